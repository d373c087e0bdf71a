import { z } from 'zod';
import { happen, observe } from '../../shared/adapters/changes.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import type { Node } from '../../shared/core/cluster.ts';
import { lifecycle, type MachineEvent, stepOf } from '../../shared/core/lifecycle.ts';
import { isLeftOver, type Match, matchNode } from '../../shared/core/match.ts';
import { done } from '../../shared/core/outcome.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import { seconds } from '../../shared/core/text.ts';
import { overdue } from '../../shared/core/transition.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { cordonedBy, type Deps, forEachOf, underMachineLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';

export const JoinInput = z.strictObject({
  machine: z.string().min(1).optional().describe('only this one; otherwise every machine'),
});

/** Matches nodes to machines, prepares the ones that join, gives up on those that never do, removes stale nodes. */
export function joinWatcher(deps: Deps): Handler<z.output<typeof JoinInput>> {
  return async ({ machine }, { signal }) => {
    const [records, pools, settings, view] = await Promise.all([
      deps.inventory.machines(),
      deps.inventory.pools(),
      deps.inventory.settings(),
      deps.cluster.view(),
    ]);
    const results: Record<string, string> = {};
    await forEachOf(
      records.filter(({ spec }) => machine === undefined || spec.name === machine),
      8,
      async (record) => {
        if (signal.aborted) return;
        const pool = pools.find(({ name }) => name === record.spec.pool);
        const result = await watchOne(deps, record, matchNode(record, view.nodes), pool, settings);
        if (result) results[record.spec.name] = result;
      },
    );
    return done({ machines: results });
  };
}

async function watchOne(
  deps: Deps,
  record: MachineRecord,
  match: Match | undefined,
  pool: PoolSpec | undefined,
  settings: Settings,
): Promise<string | undefined> {
  const { on } = lifecycle[record.status.state];
  if (match && isStale(record, match.node)) {
    if (await deps.cluster.deleteNode(match.node.name))
      deps.log.info(
        {
          step: 'join',
          machine: record.spec.name,
          node: match.node.name,
          story: 'is off: its Node object is removed',
        },
        'stale node removed',
      );
    await observe(deps.inventory, record, { kubernetesNode: undefined, nodeReady: undefined });
    return 'stale node removed';
  }
  const joinable =
    match?.node.ready && !isLeftOver(record, match.node) && on.joined && mayReturn(record, deps.clock.now());
  if (joinable) return join(deps, record, match, settings);

  const late =
    pool && stepOf(record) === 'join-watcher' && overdue(record, pool, settings.timings, deps.clock.now());
  if (late) return giveUp(deps, record, late, settings);
  await observe(deps.inventory, record, { kubernetesNode: match?.node.name, nodeReady: match?.node.ready });
  return undefined;
}

/** The node of a machine that is proven to be off. Unless we drained it, it is left to those who know better. */
function isStale({ status }: MachineRecord, node: Node): boolean {
  const atRest =
    status.powerState === 'off' && status.operation === undefined && !lifecycle[status.state].step;
  return atRest && (!node.ready || node.annotations[cordonedBy] !== undefined);
}

/** A machine that refused to power off is not taken back into service before its time: the next try is due then. */
function mayReturn({ status }: MachineRecord, now: number): boolean {
  return status.lastError?.code !== 'power-off-failed' || (status.retryAt ?? 0) <= now;
}

async function join(
  deps: Deps,
  record: MachineRecord,
  { node, by }: Match,
  settings: Settings,
): Promise<string | undefined> {
  const { name, labels, taints, providerID } = record.spec;
  return underMachineLease(deps, name, settings, async (lease) => {
    deps.failpoint('join-before-node');
    await deps.cluster.changeNode(node.name, {
      labels: { ...labels, 'bamel.dev/machine': name, 'bamel.dev/pool': record.spec.pool },
      ...(taints && { taints }),
      ...(providerID && !node.providerID && { providerID }),
      // Uncordoned only if it was us who cordoned it.
      ...(node.annotations[cordonedBy] !== undefined && {
        unschedulable: false,
        annotations: { [cordonedBy]: null },
      }),
    });
    deps.failpoint('join-after-node');
    const now = deps.clock.now();
    const result = await happen(deps.inventory, record, {
      event: { type: 'joined', node: node.name },
      by: 'join-watcher',
      why: `matched by ${by}`,
      observed: { kubernetesNode: node.name, nodeReady: true, bootID: node.bootID },
      lease,
      settings,
      now,
    });
    if (result.kind !== 'changed') return undefined;
    deps.failpoint('join-after-result');
    const { bootTime, learnedBootMs } = record.status;
    const took = bootTime === undefined ? '' : ` after ${seconds(now - bootTime)}`;
    const usually = learnedBootMs === undefined ? '' : ` (usually ${seconds(learnedBootMs)})`;
    deps.log.info(
      {
        step: 'join',
        machine: name,
        node: node.name,
        by,
        story: `is node ${node.name} (by ${by}), Ready${took}${usually}; labels and taints set`,
      },
      'machine joined',
    );
    await deps.sink.emit(machineEvent(events.machineJoined, name));
    return `joined as ${node.name}`;
  });
}

async function giveUp(
  deps: Deps,
  record: MachineRecord,
  event: MachineEvent,
  settings: Settings,
): Promise<string | undefined> {
  return underMachineLease(deps, record.spec.name, settings, async (lease) => {
    const result = await happen(deps.inventory, record, {
      event,
      by: 'join-watcher',
      lease,
      settings,
      now: deps.clock.now(),
    });
    if (result.kind !== 'changed') return undefined;
    const story = 'message' in event ? event.message : event.type;
    deps.log.warn(
      { step: 'join', machine: record.spec.name, story: `quarantined: ${story}` },
      'machine quarantined',
    );
    await deps.sink.emit(machineEvent(events.machineFailed, record.spec.name));
    return story;
  });
}
