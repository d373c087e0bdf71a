import { isLeftOver } from '../../shared/core/cluster/match.ts';
import { startupTaintsDone } from '../../shared/core/cluster/prepare-node.ts';
import { capacityOf, lifecycle, type MachineEvent, stepOf } from '../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { overdue } from '../../shared/core/machine/transition.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { saveObservation } from '../../shared/state/machine-writes.ts';
import { cleanUpNode } from './clean-up-node.ts';
import { join, quarantine } from './join.ts';
import { providerProblem } from './provider-problem.ts';
import { removeStartupTaints } from './startup-taints.ts';
import { matchOf, poolOf, stepFor, type WatchContext } from './watch-context.ts';

/** How long to wait for the machine's lease, so that a join continues soon after its watcher died. */
const patienceMs = 20_000;

export async function watchMachine(
  context: WatchContext,
  record: MachineRecord,
): Promise<string | undefined> {
  const { deps, settings, signal } = context;
  const match = matchOf(context, record);
  if (context.matches.unclear.has(record.spec.name)) {
    await saveObservation(deps.inventory, record, { nodeProblem: problemOf(context, record) });
    return undefined;
  }
  const tidied = match && (await cleanUpNode(context, record, match.node));
  if (tidied) return tidied;
  if (
    !mayJoin(context, record) &&
    !lateEvent(context, record) &&
    removableTaints(context, record).length === 0
  ) {
    const now = observedNode(context, record);
    if (now.nodeProblem && now.nodeProblem !== record.status.nodeProblem)
      await reportProblem(context, record, now.nodeProblem);
    await saveObservation(deps.inventory, record, now);
    return undefined;
  }
  return underMachineLease(deps, record.spec.name, settings, { ms: patienceMs, signal }, async (lease) => {
    // Read again: the previous holder may have finished, or started another operation.
    const current = await deps.inventory.machine(record.spec.name);
    if (!current) return undefined;
    if (match && mayJoin(context, current)) return join(context, current, match, lease);
    const done = match && removableTaints(context, current);
    if (match && done && done.length > 0) return removeStartupTaints(deps, current, match.node, done, lease);
    const late = lateEvent(context, current);
    return late && quarantine(deps, current, late, settings, lease);
  });
}

/** The current state of the machine's node. */
function observedNode(context: WatchContext, record: MachineRecord): Partial<MachineStatus> {
  const { status } = record;
  const match = matchOf(context, record);
  const isLost = capacityOf(record) === 'serving' && !match?.node.ready;
  return {
    kubernetesNode: match?.node.name,
    nodeReady: match?.node.ready,
    matchedBy: match?.by,
    ...(match?.node.providerID && { providerID: match.node.providerID }),
    unreadySince: isLost ? (status.unreadySince ?? context.deps.clock.now()) : undefined,
    nodeProblem: problemOf(context, record),
  };
}

/** Reports a problem once, until it changes. */
async function reportProblem(context: WatchContext, record: MachineRecord, problem: string): Promise<void> {
  const { log, cluster } = context.deps;
  const { name } = record.spec;
  const node = matchOf(context, record)?.node.name;
  log.warn({ step: 'join', machine: name, node, text: problem }, 'node has a problem');
  if (node && providerProblem(record) === problem)
    await cluster.recordEvent({ kind: 'Node', name: node }, 'Warning', 'LenderTrouble', `bamel: ${problem}`);
}

function problemOf(context: WatchContext, record: MachineRecord): string | undefined {
  const step = stepFor(context, record);
  const waits = step.kind === 'wait' ? step.why : undefined;
  return waits ?? context.problems.get(record.spec.name) ?? providerProblem(record);
}

function mayJoin(context: WatchContext, record: MachineRecord): boolean {
  const match = matchOf(context, record);
  if (!match?.node.ready || isLeftOver(record, match.node)) return false;
  const { status } = record;
  if (!lifecycle[status.state].on.joined) return false;
  // A machine that failed to power off does not rejoin before its next try is due.
  return status.lastError?.code !== 'power-off-failed' || (status.retryAt ?? 0) <= context.deps.clock.now();
}

function lateEvent(context: WatchContext, record: MachineRecord): MachineEvent | undefined {
  const pool = poolOf(context, record);
  if (!pool || stepOf(record) !== 'join-watcher') return undefined;
  return overdue(record, pool, context.settings.timings, context.deps.clock.now(), record.since);
}

function removableTaints(context: WatchContext, record: MachineRecord): ReturnType<typeof startupTaintsDone> {
  const [match, pool] = [matchOf(context, record), poolOf(context, record)];
  if (!match || !pool || capacityOf(record) !== 'serving') return [];
  return startupTaintsDone(match.node, pool, context.view, context.deps.clock.now() - record.since);
}
