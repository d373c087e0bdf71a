import type { Pod } from '../cluster/cluster.ts';
import type { PoolSpec, Settings } from '../settings.ts';
import { kindOf, type PodKind, type World } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { durationOf } from './blockers.ts';
import type { Situation } from './indexed-snapshot.ts';
import { podName, waitingPods } from './snapshot.ts';

/** Waiting pods that every place judges alike and that may ask the same pools for machines. */
export interface Group {
  readonly kind: PodKind;
  readonly pods: readonly Pod[];
  /** The one that waits longest. */
  readonly first: Pod;
  /** How many of the pools' stabilization windows, the shortest first, they have waited through. */
  readonly age: number;
}

const scaleUpDelay = 'cluster-autoscaler.kubernetes.io/pod-scale-up-delay';

/** How long pods must wait before a machine of the pool is powered on for them. */
export const windowOf = ({ scaleUp }: PoolSpec, { stabilizationWindowMs }: Settings): number =>
  scaleUp.stabilizationWindowMs ?? stabilizationWindowMs;

/** Every length of window there is, the shortest first: a pod's age is how many of them it has waited through. */
export function windowsOf({ pools, settings }: Situation): number[] {
  return [...new Set(pools.map((pool) => windowOf(pool, settings)))].sort((a, b) => a - b);
}

/** Groups of pods that wait, in an order that does not depend on how they were listed. */
export function groupWaiting(situation: Situation, world: World): Group[] {
  const windows = windowsOf(situation);
  const groups = new Map<PodKind, { kind: PodKind; pods: Pod[]; age: number }[]>();
  for (const pod of waitingPods(situation.cluster)) {
    if ((pod.priority ?? 0) < situation.settings.priorityCutoff) continue;
    const kind = kindOf(world, pod);
    const age = ageOf(pod, windows, situation.now);
    const ofKind = groups.get(kind) ?? [];
    if (ofKind.length === 0) groups.set(kind, ofKind);
    const group = ofKind.find((one) => one.age === age);
    if (group) group.pods.push(pod);
    else ofKind.push({ kind, pods: [pod], age });
  }
  return [...groups.values()]
    .flat()
    .map((group) => ({ ...group, first: group.pods.reduce((a, b) => (waitsLonger(b, a) ? b : a)) }))
    .sort((a, b) => byText(podName(a.first), podName(b.first)) || a.age - b.age);
}

/** A pod that asks for a delay of its own is of no age before that is over. */
function ageOf({ createdAt, annotations }: Pod, windows: readonly number[], now: number): number {
  const waited = now - createdAt;
  const delay = annotations?.[scaleUpDelay];
  if (delay !== undefined && waited < (durationOf(delay) ?? 0)) return 0;
  let age = 0;
  while (age < windows.length && (windows[age] ?? 0) <= waited) age += 1;
  return age;
}

const waitsLonger = (a: Pod, b: Pod): boolean => inTurn(a, b) < 0;

/** Who waits longest comes first; among equals the name decides, not the order in which a cluster lists them. */
export const inTurn = (a: Pod, b: Pod): number =>
  a.createdAt - b.createdAt || byText(a.namespace, b.namespace) || byText(a.name, b.name);
