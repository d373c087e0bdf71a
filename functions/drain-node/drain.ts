import { drainRefusal } from '../../shared/by-hand/drain-refusal.ts';
import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';
import {
  type DrainPlan,
  planDrain,
  type Refusal,
  refusedAgain,
} from '../../shared/core/cluster/drain-plan.ts';
import { matchNode } from '../../shared/core/cluster/match.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import { isDeletedByClusterAutoscaler } from '../../shared/core/cluster/prepare-node.ts';
import { stepOf } from '../../shared/core/machine/lifecycle.ts';
import type { Drain } from '../../shared/core/machine/machine.ts';
import { overdue } from '../../shared/core/machine/transition.ts';
import { because, textOf } from '../../shared/core/reasons/reason.ts';
import { plural } from '../../shared/core/text.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { saveObservation } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import { type DrainContext, recordNodeEvent } from './drain-context.ts';
import { abortDrain, finishDrain } from './finish.ts';

/** Maximum duration of one invocation; the next tick continues. */
const maxRunMs = 20_000;

/** Refused evictions by pod uid, in memory. A new instance tries each of them once more. */
export type Refusals = Map<string, Refusal>;

/**
 * Cordons the node, evicts its pods and waits until they are gone; after the deadline it uncordons the node
 * and the machine stays on.
 */
export async function drain(
  deps: Deps,
  machine: string,
  refusals: Refusals,
  signal: AbortSignal,
): Promise<string> {
  const settings = await deps.inventory.settings();
  const work = async (lease: Lease): Promise<string> => {
    const until = deps.clock.now() + maxRunMs;
    const stop = AbortSignal.any([signal, lease.lost]);
    while (!stop.aborted && deps.clock.now() < until) {
      const record = await deps.inventory.machine(machine);
      if (!record || stepOf(record) !== 'drain-node') return 'nothing to do';
      const finished = await drainStep({ deps, record, settings, lease }, refusals);
      if (finished) return finished;
      await deps.clock.sleep(settings.timings.evictEveryMs, stop);
    }
    return 'still under way; the next tick goes on';
  };
  const result = await underMachineLease(deps, machine, settings, { ms: maxRunMs, signal }, work);
  return result ?? 'another instance is at it';
}

async function drainStep(context: DrainContext, refusals: Refusals): Promise<string | undefined> {
  const { deps, record, settings } = context;
  const { inventory, cluster, clock } = deps;
  const node = await findNode(cluster, record);
  const pool = (await inventory.pools()).find(({ name }) => name === record.spec.pool);
  const late = pool && overdue(record, pool, settings.timings, clock.now(), record.since);
  if (late) return abortDrain(context, late, node);
  // Without a node there are no pods.
  if (!node) return finishDrain(context, undefined, progressOf(record, [], undefined, clock.now()));

  const view = await cluster.view();
  const operation = await inventory.operation(record.status.operation ?? '');
  const mayBeLast = operation?.stored.last === true;
  const why = drainRefusal(record, node, view, settings, deps.ownNode, mayBeLast);
  if (why) return abortDrain(context, { type: 'drain-aborted', ...because(why) }, node);
  const cordoned = await cordon(context, node);
  if (!cordoned) return undefined;
  // Listed after the cordon, so that no new pod is missed.
  const pods = await cluster.podsOn(node.name);
  const plan = planDrain(pods, { settings, budgets: view.budgets ?? [], refusals, now: clock.now() });
  if (plan.hopeless)
    return abortDrain(context, { type: 'drain-aborted', ...because(plan.hopeless) }, cordoned);
  const progress = progressOf(record, plan.leaving, plan.waitingFor && textOf(plan.waitingFor), clock.now());
  if (plan.leaving.length === 0) return finishDrain(context, cordoned, progress);

  logProgress(deps, record, progress);
  await saveObservation(inventory, record, { drain: progress });
  await evictAll(context, plan, refusals);
  return undefined;
}

/** Returns the cordoned node. Undefined: the lease is lost. */
async function cordon({ deps, record, lease }: DrainContext, node: Node): Promise<Node | undefined> {
  // A cordon of a person outlives the drain. The Cluster Autoscaler's is taken over: it would never undo it.
  const isTheirs = node.annotations[bamelKeys.cordonedBy] === undefined && isDeletedByClusterAutoscaler(node);
  if (node.unschedulable && !isTheirs) return node;
  const ours = { [bamelKeys.cordonedBy]: record.status.operation ?? '' };
  deps.failpoint('drain-before-cordon');
  if (lease.remainingMs() === 0) return undefined;
  await deps.cluster.changeNode(node.name, { unschedulable: true, annotations: ours });
  deps.failpoint('drain-after-cordon');
  await recordNodeEvent(deps, node, 'Normal', 'Draining', `machine ${record.spec.name} is to be powered off`);
  return { ...node, unschedulable: true, annotations: { ...node.annotations, ...ours } };
}

async function evictAll(
  { deps, record, settings, lease }: DrainContext,
  plan: DrainPlan,
  refusals: Refusals,
) {
  for (const pod of plan.evict) {
    if (lease.remainingMs() === 0) return;
    const result = await deps.cluster.evict(pod);
    deps.failpoint('drain-after-eviction');
    if (result.kind !== 'blocked') {
      refusals.delete(pod.uid);
      continue;
    }
    const now = deps.clock.now();
    refusals.set(pod.uid, refusedAgain(refusals.get(pod.uid), result, settings.timings.evictEveryMs, now));
    deps.log.debug(
      { machine: record.spec.name, pod: `${pod.namespace}/${pod.name}`, why: result.why },
      'eviction is blocked',
    );
  }
}

function progressOf(
  { status }: MachineRecord,
  leaving: readonly Pod[],
  waitingFor: string | undefined,
  now: number,
): Drain {
  return {
    podsLeft: leaving.length,
    podsTotal: Math.max(leaving.length, status.drain?.podsTotal ?? 0),
    ...(waitingFor && { waitingFor }),
    // A new pod resets it.
    ...(leaving.length === 0 && { emptySince: status.drain?.emptySince ?? now }),
  };
}

function logProgress({ log }: Deps, { spec, status }: MachineRecord, progress: Drain): void {
  const { podsLeft, podsTotal, waitingFor } = progress;
  if (status.drain?.podsLeft === podsLeft && status.drain.waitingFor === waitingFor) return;
  const gone = `${podsTotal - podsLeft} of ${podsTotal} ${plural(podsTotal, 'pod')} gone`;
  log.info(
    {
      step: 'drain',
      machine: spec.name,
      ...progress,
      text: waitingFor ? `${gone}; waits for ${waitingFor}` : gone,
    },
    'draining',
  );
}

/** The current node of the machine, even if it was renamed: a missing node would count as empty. */
async function findNode(cluster: Cluster, record: MachineRecord): Promise<Node | undefined> {
  const { kubernetesNode } = record.status;
  const known = kubernetesNode === undefined ? undefined : await cluster.node(kubernetesNode);
  if (known) return known;
  const match = matchNode(record, (await cluster.view()).nodes);
  return match && cluster.node(match.node.name);
}
