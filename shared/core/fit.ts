import type { Pod, Toleration } from './cluster.ts';
import type { Taint } from './machine.ts';
import { type Resources, shortage } from './resources.ts';

/** A place for pods: a node that runs, or what a machine that is off would become. */
export interface Place {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly free: Resources;
}

/** A predicate says why the pod cannot run there, or nothing. */
type Predicate = (pod: Pod, place: Place) => string | undefined;

const selectorMatches: Predicate = (pod, place) => {
  for (const [key, value] of Object.entries(pod.nodeSelector))
    if (place.labels[key] !== value) return `no label ${key}=${value}`;
  return undefined;
};

const taintsTolerated: Predicate = (pod, place) => {
  const taint = place.taints.find(
    ({ effect, ...taint }) =>
      effect !== 'PreferNoSchedule' &&
      !pod.tolerations.some((toleration) => tolerates(toleration, { effect, ...taint })),
  );
  return taint && `taint ${taint.key}${taint.value ? `=${taint.value}` : ''} not tolerated`;
};

const resourcesSuffice: Predicate = (pod, place) => shortage(pod.requests, place.free);

const predicates: readonly Predicate[] = [selectorMatches, taintsTolerated, resourcesSuffice];

/** Why kube-scheduler would not put the pod there, or undefined when it could. */
export function misfit(pod: Pod, place: Place): string | undefined {
  for (const predicate of predicates) {
    const why = predicate(pod, place);
    if (why) return why;
  }
  return undefined;
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
}
