import type { RecoveryStep } from '../../shared/core/machine/node-recovery.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { newId } from '../../shared/process/ids.ts';
import { underLease, underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { matchOf, stepFor, type WatchContext, watchContext } from './watch-context.ts';

const leaseTtlMs = 10_000;

/**
 * Quarantines or power-cycles a machine whose node is lost. One lease covers all recoveries, so that
 * concurrent instances do not exceed the limits together; everything is read again under it.
 */
export async function recoverNode(context: WatchContext, name: string): Promise<string | undefined> {
  const { deps, settings, signal } = context;
  return underLease(deps, 'recovery', leaseTtlMs, { ms: 0, signal }, () =>
    underMachineLease(deps, name, settings, { ms: 0, signal }, async (lease) => {
      const records = await deps.inventory.machines();
      const record = records.find(({ spec }) => spec.name === name);
      if (!record) return undefined;
      const node = matchOf(context, record)?.node;
      // Not from the cache: the node may be Ready again.
      const fresh = node && (await deps.cluster.node(node.name));
      if (fresh?.ready) return undefined;
      const step = stepFor(watchContext({ ...context, records }), record);
      if (step.kind === 'wait' || (step.kind === 'power-cycle' && settings.dryRun)) return step.why;
      return carryOut(context, record, step, lease);
    }),
  );
}

async function carryOut(
  context: WatchContext,
  record: MachineRecord,
  { kind, why }: Exclude<RecoveryStep, { kind: 'wait' }>,
  lease: Lease,
): Promise<string | undefined> {
  const { deps, settings } = context;
  const { name } = record.spec;
  const node = matchOf(context, record)?.node.name;
  const now = deps.clock.now();
  const operation = newId('op', now);
  const isCycle = kind === 'power-cycle';
  const result = await applyEvent(deps.inventory, record, {
    event: isCycle ? { type: 'power-off-requested', operation } : { type: 'lost', message: why },
    by: 'join-watcher',
    why,
    observed: { kubernetesNode: node, nodeReady: false, unreadySince: undefined, nodeProblem: undefined },
    ...(isCycle && {
      begins: {
        id: operation,
        machine: name,
        goal: 'off' as const,
        why,
        spec: record.input,
        createdAt: now,
        commands: [],
      },
    }),
    lease,
    settings,
    now,
  });
  if (result.kind !== 'changed') return result.kind === 'refused' ? result.why : undefined;
  const text = isCycle ? `is powered off for a fresh start: ${why}` : `quarantined: ${why}`;
  deps.log.warn({ step: 'join', machine: name, node, why, text }, 'machine lost');
  await deps.sink.emit(machineEvent(isCycle ? events.powerRequested : events.machineFailed, name));
  if (node)
    await deps.cluster.recordEvent(
      { kind: 'Node', name: node },
      'Warning',
      isCycle ? 'MachinePowerCycled' : 'MachineLost',
      `bamel: machine ${name} ${text}`,
    );
  return text;
}
