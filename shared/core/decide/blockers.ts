import type { DisruptionBudget, Pod } from '../cluster/cluster.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Settings } from '../settings.ts';
import { podName } from './snapshot.ts';

const autoscaler = 'cluster-autoscaler.kubernetes.io/';
const doNotDisrupt = 'karpenter.sh/do-not-disrupt';

/** system-cluster-critical; system-node-critical is above it. */
const criticalPriority = 2_000_000_000;

/** Controllers that start a pod anew elsewhere without losing its work; a Job's pod would begin again. */
const replacers = new Set(['ReplicaSet', 'StatefulSet', 'ReplicationController']);

/** Belongs to its node, is on its way out, or is too unimportant to keep a machine for. */
export function keepsNobody(pod: Pod, settings: Settings): boolean {
  return (
    pod.finished ||
    pod.terminating ||
    pod.belongsToNode ||
    pod.annotations?.[`${autoscaler}daemonset-pod`] === 'true' ||
    (pod.priority ?? 0) < settings.priorityCutoff
  );
}

interface Context {
  readonly settings: Settings;
  readonly now: number;
  /** The PodDisruptionBudgets that count the pod. */
  readonly budgets: readonly DisruptionBudget[];
}

/** Says why the pod must not be moved, or nothing. */
type Blocker = (pod: Pod, context: Context) => Reason | undefined;

const annotated: Blocker = (pod) => {
  const evict = pod.annotations?.[`${autoscaler}safe-to-evict`];
  if (evict === 'false') return { code: 'not-safe-to-evict', pod: podName(pod) };
  if (evict === 'on-completion') return { code: 'runs-to-completion', pod: podName(pod) };
  return undefined;
};

const notDisrupted: Blocker = (pod, { now }) => {
  const wish = pod.annotations?.[doNotDisrupt];
  if (wish === undefined || wish === 'false') return undefined;
  const forMs = durationOf(wish);
  if (forMs === undefined) return { code: 'do-not-disrupt', pod: podName(pod) };
  const left = pod.createdAt + forMs - now;
  return left > 0 ? { code: 'do-not-disrupt', pod: podName(pod), forMs: left } : undefined;
};

const localData: Blocker = (pod, { settings }) => {
  if (settings.moveLocalStorage || !pod.localVolumes) return undefined;
  const safe = pod.annotations?.[`${autoscaler}safe-to-evict-local-volumes`]
    ?.split(',')
    .map((name) => name.trim());
  const volume = pod.localVolumes.find((name) => !safe?.includes(name));
  return volume === undefined ? undefined : { code: 'local-data', pod: podName(pod), volume };
};

const irreplaceable: Blocker = (pod) => {
  if (pod.movable || (pod.owner && replacers.has(pod.owner.kind))) return undefined;
  if (pod.owner?.kind === 'Job') return { code: 'job-pod', pod: podName(pod) };
  return pod.owner
    ? { code: 'other-owner', pod: podName(pod), owner: pod.owner.kind }
    : { code: 'no-controller', pod: podName(pod) };
};

const critical: Blocker = (pod, { budgets }) => {
  if (budgets.length > 0) return undefined;
  if (pod.namespace === 'kube-system') return { code: 'system-pod', pod: podName(pod) };
  return (pod.priority ?? 0) >= criticalPriority ? { code: 'critical-pod', pod: podName(pod) } : undefined;
};

/** Facts that some owner states outright come before those that are guessed at. */
const blockers: readonly Blocker[] = [annotated, notDisrupted, localData, irreplaceable, critical];

/** Why the pod keeps its node, or nothing. `safe-to-evict: "true"` overrules all but an explicit no. */
export function blocked(pod: Pod, context: Context): Reason | undefined {
  const explicit = notDisrupted(pod, context);
  if (!explicit && pod.annotations?.[`${autoscaler}safe-to-evict`] === 'true') return undefined;
  for (const blocker of blockers) {
    const why = blocker(pod, context);
    if (why) return why;
  }
  return undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Durations as Go and Karpenter write them: 90s, 4h, 1h30m. */
export function durationOf(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    sum += Number(amount) * (units[unit] ?? 0);
  return sum;
}
