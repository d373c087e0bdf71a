import { happen, observe } from '../../shared/adapters/changes.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import type { Node } from '../../shared/core/cluster.ts';
import { type MachineEvent, stepOf } from '../../shared/core/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine.ts';
import { matchNode } from '../../shared/core/match.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { plural } from '../../shared/core/text.ts';
import { overdue } from '../../shared/core/transition.ts';
import type { Cluster, Lease } from '../../shared/ports.ts';
import { cordonedBy, type Deps, underMachineLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';

/** One invocation stays with a node for this long; the next tick goes on where it stopped. */
const longestMs = 20_000;

/** Cordon, evict, wait until every pod is gone; past the deadline uncordon and leave the machine on. */
export async function drain(deps: Deps, machine: string, signal: AbortSignal): Promise<string> {
  const settings = await deps.inventory.settings();
  const work = async (lease: Lease): Promise<string> => {
    const until = deps.clock.now() + longestMs;
    const stop = AbortSignal.any([signal, lease.lost]);
    while (!stop.aborted && deps.clock.now() < until) {
      const record = await deps.inventory.machine(machine);
      if (!record || stepOf(record) !== 'drain-node') return 'nothing to do';
      const finished = await drainStep(deps, record, settings, lease);
      if (finished) return finished;
      await deps.clock.sleep(settings.timings.evictEveryMs, stop);
    }
    return 'still under way; the next tick goes on';
  };
  const result = await underMachineLease(deps, machine, settings, { ms: longestMs, signal }, work);
  return result ?? 'another instance is at it';
}

async function drainStep(
  deps: Deps,
  record: MachineRecord,
  settings: Settings,
  lease: Lease,
): Promise<string | undefined> {
  const { inventory, cluster, failpoint } = deps;
  const { operation = '' } = record.status;
  const node = await findNode(cluster, record);
  const pool = (await inventory.pools()).find(({ name }) => name === record.spec.pool);
  const late = pool && overdue(record, pool, settings.timings, deps.clock.now(), record.since);
  if (late) return giveUp(deps, record, late, node, settings, lease);

  if (node && !node.unschedulable) {
    failpoint('drain-before-cordon');
    if (lease.remainingMs() === 0) return undefined;
    await cluster.changeNode(node.name, { unschedulable: true, annotations: { [cordonedBy]: operation } });
    failpoint('drain-after-cordon');
  }
  // Listed after the cordon, so that no pod can land there unseen.
  const leaving = node
    ? (await cluster.podsOn(node.name)).filter((pod) => !pod.finished && !pod.belongsToNode)
    : [];
  const total = Math.max(leaving.length, record.status.drain?.podsTotal ?? 0);
  const progress = { podsLeft: leaving.length, podsTotal: total };
  if (leaving.length === 0) return finish(deps, record, progress, settings, lease);

  if (record.status.drain?.podsLeft !== leaving.length)
    deps.log.info(
      {
        step: 'drain',
        machine: record.spec.name,
        ...progress,
        story: `${total - leaving.length} of ${total} ${plural(total, 'pod')} gone`,
      },
      'draining',
    );
  await observe(inventory, record, { drain: progress });
  for (const pod of leaving.filter(({ terminating }) => !terminating)) {
    if (lease.remainingMs() === 0) return undefined;
    const result = await cluster.evict(pod);
    failpoint('drain-after-eviction');
    if (result.kind === 'blocked')
      deps.log.debug(
        { machine: record.spec.name, pod: `${pod.namespace}/${pod.name}`, why: result.why },
        'eviction is blocked',
      );
  }
  return undefined;
}

/** Its node as it is now, whatever it is called by now: no node means no pods, so a new name must not hide it. */
async function findNode(cluster: Cluster, record: MachineRecord): Promise<Node | undefined> {
  const { kubernetesNode } = record.status;
  const known = kubernetesNode === undefined ? undefined : await cluster.node(kubernetesNode);
  if (known) return known;
  const match = matchNode(record, (await cluster.view()).nodes);
  return match && cluster.node(match.node.name);
}

async function finish(
  deps: Deps,
  record: MachineRecord,
  progress: NonNullable<MachineStatus['drain']>,
  settings: Settings,
  lease: Lease,
): Promise<string | undefined> {
  deps.failpoint('drain-before-result');
  const result = await happen(deps.inventory, record, {
    event: { type: 'drained' },
    by: 'drain-node',
    observed: { drain: progress },
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind !== 'changed') return undefined;
  deps.failpoint('drain-after-result');
  deps.log.info(
    {
      step: 'drain',
      machine: record.spec.name,
      ...progress,
      story: `drained${progress.podsTotal > 0 ? `, ${progress.podsTotal} ${plural(progress.podsTotal, 'pod')} moved` : ', it was empty'}`,
    },
    'drained',
  );
  await deps.sink.emit(machineEvent(events.machineDrained, record.spec.name));
  return 'drained';
}

/** Uncordons only what we cordoned, then says so: a crash in between is repeated harmlessly. */
async function giveUp(
  deps: Deps,
  record: MachineRecord,
  event: MachineEvent,
  node: Node | undefined,
  settings: Settings,
  lease: Lease,
): Promise<string | undefined> {
  if (lease.remainingMs() === 0) return undefined;
  if (node?.annotations[cordonedBy] !== undefined)
    await deps.cluster.changeNode(node.name, { unschedulable: false, annotations: { [cordonedBy]: null } });
  const result = await happen(deps.inventory, record, {
    event,
    by: 'drain-node',
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind !== 'changed') return undefined;
  const why = 'why' in event ? event.why : event.type;
  deps.log.warn(
    { step: 'drain', machine: record.spec.name, story: `gave up: ${why}. It is uncordoned and stays on` },
    'drain given up',
  );
  await deps.sink.emit(machineEvent(events.drainAborted, record.spec.name));
  return `gave up: ${why}`;
}
