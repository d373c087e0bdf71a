import type { Condition, Workload } from '../api/objects.ts';
import { deployments, pods, replicaSets } from '../api/resource-types.ts';
import { type Context, controllerOf, hashOf, ownerReference, reconcile } from './context.ts';
import { amountOf, isFinished, withCondition } from './pod-state.ts';

const hashLabel = 'pod-template-hash';
const revisionKey = 'deployment.kubernetes.io/revision';

const replicasOf = ({ spec }: Workload) => spec.replicas ?? 1;
const revisionOf = ({ metadata }: Workload) => Number(metadata.annotations?.[revisionKey] ?? 0);
const sum = (sets: readonly Workload[], value: (set: Workload) => number) =>
  sets.reduce((total, set) => total + value(set), 0);

/** How many replicas each set should have next. */
type Plan = Map<Workload, number>;

function rollingPlan(deployment: Workload, current: Workload, old: readonly Workload[]): Plan {
  const wanted = replicasOf(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = amountOf(maxSurge, wanted, Math.ceil);
  const unavailable = Math.max(amountOf(maxUnavailable, wanted, Math.floor), surge === 0 ? 1 : 0);
  const plan: Plan = new Map();
  const total = sum([current, ...old], replicasOf);
  const room = wanted + surge - total;
  const up = Math.min(wanted, replicasOf(current) + Math.max(0, room));
  plan.set(current, up);
  const available = ({ status }: Workload) => status.availableReplicas ?? 0;
  const lowest = wanted - unavailable;
  let removable = total - lowest - (replicasOf(current) - available(current));
  for (const set of old) {
    const broken = Math.min(
      Math.max(0, removable),
      replicasOf(set) - Math.min(available(set), replicasOf(set)),
    );
    plan.set(set, replicasOf(set) - broken);
    removable -= broken;
  }
  removable = Math.min(removable, sum([current, ...old], available) - lowest);
  for (const set of old) {
    const left = plan.get(set) ?? 0;
    const fewer = Math.max(0, Math.min(removable, left));
    plan.set(set, left - fewer);
    removable -= fewer;
  }
  return plan;
}

function recreatePlan(
  deployment: Workload,
  current: Workload,
  old: readonly Workload[],
  gone: boolean,
): Plan {
  return new Map([
    ...old.map((set): [Workload, number] => [set, 0]),
    [current, gone ? replicasOf(deployment) : 0],
  ]);
}

function planFor(
  { dependents }: Context,
  deployment: Workload,
  current: Workload,
  old: readonly Workload[],
): Plan {
  if (deployment.spec.strategy?.type === 'Recreate') {
    const left = old.flatMap(({ metadata }) => dependents.controlled(pods, metadata.uid));
    return recreatePlan(deployment, current, old, left.every(isFinished));
  }
  if (old.every((set) => replicasOf(set) === 0)) return new Map([[current, replicasOf(deployment)]]);
  return rollingPlan(deployment, current, old);
}

function newSet(
  { store }: Context,
  deployment: Workload,
  hash: string,
  revision: number,
  empty: boolean,
): Workload {
  const { template, selector } = deployment.spec;
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return store.create(replicaSets, {
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { [revisionKey]: `${revision}` },
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas: empty ? 0 : replicasOf(deployment),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  });
}

function statusOf(deployment: Workload, current: Workload | undefined, all: readonly Workload[], at: string) {
  const wanted = replicasOf(deployment);
  const replicas = sum(all, ({ status }) => status.replicas ?? 0);
  const ready = sum(all, ({ status }) => status.readyReplicas ?? 0);
  const available = sum(all, ({ status }) => status.availableReplicas ?? 0);
  const updated = current?.status.replicas ?? 0;
  const { maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {};
  const enough = available >= wanted - amountOf(maxUnavailable, wanted, Math.floor);
  const complete = updated === wanted && replicas === wanted && available >= wanted;
  const isAvailable: Condition = {
    type: 'Available',
    status: enough ? 'True' : 'False',
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
  };
  const name = current?.metadata.name;
  const progressing: Condition = {
    type: 'Progressing',
    status: 'True',
    reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
    message: `ReplicaSet "${name}" ${complete ? 'has successfully progressed.' : 'is progressing.'}`,
  };
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...(replicas ? { replicas } : {}),
    ...(updated ? { updatedReplicas: updated } : {}),
    ...(ready ? { readyReplicas: ready } : {}),
    ...(available ? { availableReplicas: available } : {}),
    ...(wanted > available ? { unavailableReplicas: wanted - available } : {}),
    conditions: withCondition(withCondition(deployment.status.conditions, isAvailable, at), progressing, at),
  };
}

export function deploymentController(context: Context): void {
  const { store, dependents } = context;
  const annotate = (object: Workload, revision: number): Workload => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, [revisionKey]: `${revision}` },
    },
  });

  /** Brings the replica sets one step towards what is wanted; each step is followed by their changes. */
  const rollOut = (deployment: Workload): Workload | undefined => {
    const sets = dependents.controlled(replicaSets, deployment.metadata.uid);
    const hash = hashOf(deployment.spec.template);
    const latest = Math.max(0, ...sets.map(revisionOf));
    const active = sets.filter((set) => replicasOf(set) > 0);
    const existing = sets.find(({ metadata }) => metadata.labels?.[hashLabel] === hash);
    if (!existing && deployment.spec.paused) return undefined;
    const current = existing ?? newSet(context, deployment, hash, latest + 1, active.length > 0);
    const old = sets.filter((set) => set.metadata.uid !== current.metadata.uid);
    const revision =
      existing && old.some((set) => revisionOf(set) > revisionOf(current)) ? latest + 1 : revisionOf(current);
    for (const [set, replicas] of planFor(context, deployment, current, old))
      store.modify(replicaSets, set, (one) => {
        const revised = set === current ? annotate(one, revision) : one;
        return { ...revised, spec: { ...one.spec, replicas } };
      });
    store.modify(deployments, deployment, (one) => annotate(one, revision));
    const kept = deployment.spec.revisionHistoryLimit ?? 10;
    const idle = old.filter((set) => replicasOf(set) === 0 && !set.status.replicas);
    for (const set of idle.toSorted((a, b) => revisionOf(b) - revisionOf(a)).slice(kept))
      store.delete(replicaSets, set.metadata.namespace, set.metadata.name);
    return current;
  };

  const enqueue = reconcile(context, deployments, [replicaSets], (deployment) => {
    const current = deployment.metadata.deletionTimestamp ? undefined : rollOut(deployment);
    const sets = dependents.controlled(replicaSets, deployment.metadata.uid);
    const now = sets.find(({ metadata }) => metadata.uid === current?.metadata.uid);
    store.modify(
      deployments,
      deployment,
      (one) => ({ ...one, status: statusOf(one, now, sets, store.timestamp()) }),
      'status',
    );
  });
  // Its replica sets do not count pods on their way out, but Recreate waits for them.
  context.on(pods, ({ type, object }) => {
    const set = type === 'DELETED' ? store.byUid(controllerOf(object)?.uid ?? '') : undefined;
    const owner = set && controllerOf(set);
    if (owner?.kind === deployments.kind) enqueue(object.metadata.namespace, owner.name);
  });
}
