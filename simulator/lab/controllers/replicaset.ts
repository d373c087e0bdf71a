import type { Pod, Workload } from '../api/objects.ts';
import { pods, replicaSets } from '../api/resource-types.ts';
import { type Context, podFrom, reconcile, record, removePod } from './context.ts';
import { isActive, isReady } from './pod-state.ts';

/** Pods made or deleted at one go; the rest follows when these have been seen. */
const burst = 500;

/** The pods one would miss least come first: without a node, not running, not ready, youngest. */
const leastMissed = (a: Pod, b: Pod) =>
  Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)) ||
  Number(a.status.phase === 'Running') - Number(b.status.phase === 'Running') ||
  Number(isReady(a)) - Number(isReady(b)) ||
  b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp);

function statusOf(set: Workload, active: readonly Pod[]): Workload['status'] {
  const ready = active.filter(isReady).length;
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.length,
    ...(ready ? { readyReplicas: ready, availableReplicas: ready } : {}),
    observedGeneration: set.metadata.generation ?? 0,
  };
}

function scale(context: Context, set: Workload, active: readonly Pod[]): void {
  const wanted = set.spec.replicas ?? 1;
  const missing = Math.min(wanted - active.length, burst);
  for (let made = 0; made < missing; made++) {
    const pod = context.store.create(pods, podFrom(set, set.spec.template));
    record(context, set, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created pod: ${pod.metadata.name}`,
      component: 'replicaset-controller',
    });
  }
  const surplus = Math.min(active.length - wanted, burst);
  if (surplus > 0) for (const pod of active.toSorted(leastMissed).slice(0, surplus)) removePod(context, pod);
}

export function replicaSetController(context: Context): void {
  const { store, dependents } = context;
  reconcile(context, replicaSets, [pods], (set) => {
    const active = dependents.controlled(pods, set.metadata.uid).filter(isActive);
    if (!set.metadata.deletionTimestamp) scale(context, set, active);
    const now = dependents.controlled(pods, set.metadata.uid).filter(isActive);
    store.modify(replicaSets, set, (current) => ({ ...current, status: statusOf(set, now) }), 'status');
  });
}
