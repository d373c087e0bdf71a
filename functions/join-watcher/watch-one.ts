import { isLeftOver } from '../../shared/core/cluster/match.ts';
import { startupTaintsDone } from '../../shared/core/cluster/prepare-node.ts';
import { capacityOf, lifecycle, type MachineEvent, stepOf } from '../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { overdue } from '../../shared/core/machine/transition.ts';
import type { MachineRecord } from '../../shared/state/inventory.ts';
import { observe } from '../../shared/state/machine-writes.ts';
import { underMachineLease } from '../deps.ts';
import { giveUp, join } from './join.ts';
import { lenderProblem } from './provider-problem.ts';
import { matchOf, poolOf, type Scene, stepFor } from './scene.ts';
import { startupDone } from './startup.ts';
import { tidyUp } from './tidy-up.ts';

/** How long to wait for whoever holds the machine, so that a joiner whose watcher died is not kept waiting. */
const patienceMs = 20_000;

export async function watchOne(scene: Scene, record: MachineRecord): Promise<string | undefined> {
  const { deps, settings, signal } = scene;
  const match = matchOf(scene, record);
  if (scene.matches.unclear.has(record.spec.name)) {
    await observe(deps.inventory, record, { nodeProblem: problemOf(scene, record) });
    return undefined;
  }
  const tidied = match && (await tidyUp(scene, record, match.node));
  if (tidied) return tidied;
  if (!mayJoin(scene, record) && !isLate(scene, record) && doneAt(scene, record).length === 0) {
    const now = seen(scene, record);
    if (now.nodeProblem && now.nodeProblem !== record.status.nodeProblem)
      await tellProblem(scene, record, now.nodeProblem);
    await observe(deps.inventory, record, now);
    return undefined;
  }
  return underMachineLease(deps, record.spec.name, settings, { ms: patienceMs, signal }, async (lease) => {
    // Read again: whoever had the lease before may have done it, or begun something else.
    const current = await deps.inventory.machine(record.spec.name);
    if (!current) return undefined;
    if (match && mayJoin(scene, current)) return join(scene, current, match, lease);
    const done = match && doneAt(scene, current);
    if (match && done && done.length > 0) return startupDone(deps, current, match.node, done, lease);
    const late = isLate(scene, current);
    return late && giveUp(deps, current, late, settings, lease);
  });
}

/** What Kubernetes says of the machine now. */
function seen(scene: Scene, record: MachineRecord): Partial<MachineStatus> {
  const { status } = record;
  const match = matchOf(scene, record);
  const isLost = capacityOf(record) === 'serving' && !match?.node.ready;
  return {
    kubernetesNode: match?.node.name,
    nodeReady: match?.node.ready,
    matchedBy: match?.by,
    ...(match?.node.providerID && { providerID: match.node.providerID }),
    unreadySince: isLost ? (status.unreadySince ?? scene.deps.clock.now()) : undefined,
    nodeProblem: problemOf(scene, record),
  };
}

/** Once, until it is another. */
async function tellProblem(scene: Scene, record: MachineRecord, problem: string): Promise<void> {
  const { log, cluster } = scene.deps;
  const { name } = record.spec;
  const node = matchOf(scene, record)?.node.name;
  log.warn({ step: 'join', machine: name, node, story: problem }, 'a node needs looking after');
  if (node && lenderProblem(record) === problem)
    await cluster.tell({ kind: 'Node', name: node }, 'Warning', 'LenderTrouble', `bamel: ${problem}`);
}

function problemOf(scene: Scene, record: MachineRecord): string | undefined {
  const step = stepFor(scene, record);
  const waits = step.kind === 'wait' ? step.why : undefined;
  return waits ?? scene.problems.get(record.spec.name) ?? lenderProblem(record);
}

function mayJoin(scene: Scene, record: MachineRecord): boolean {
  const match = matchOf(scene, record);
  if (!match?.node.ready || isLeftOver(record, match.node)) return false;
  const { status } = record;
  if (!lifecycle[status.state].on.joined) return false;
  // One that refused to power off is not taken back before its time: the next try is due then.
  return status.lastError?.code !== 'power-off-failed' || (status.retryAt ?? 0) <= scene.deps.clock.now();
}

function isLate(scene: Scene, record: MachineRecord): MachineEvent | undefined {
  const pool = poolOf(scene, record);
  if (!pool || stepOf(record) !== 'join-watcher') return undefined;
  return overdue(record, pool, scene.settings.timings, scene.deps.clock.now(), record.since);
}

function doneAt(scene: Scene, record: MachineRecord): ReturnType<typeof startupTaintsDone> {
  const [match, pool] = [matchOf(scene, record), poolOf(scene, record)];
  if (!match || !pool || capacityOf(record) !== 'serving') return [];
  return startupTaintsDone(match.node, pool, scene.view, scene.deps.clock.now() - record.since);
}
