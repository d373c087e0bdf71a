import { blocked, keepsNobody } from '../decide/blockers.ts';
import { podName } from '../decide/snapshot.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Settings } from '../settings.ts';
import { selects } from '../simulate/requirements.ts';
import { byText } from '../text.ts';
import type { DisruptionBudget, Pod } from './cluster.ts';

/** What the server said when a pod was last asked to leave, and when to ask again. */
export interface Refusal {
  readonly tries: number;
  readonly notBefore: number;
  readonly why: string;
}

export interface DrainContext {
  readonly settings: Settings;
  readonly budgets: readonly DisruptionBudget[];
  /** By the pod's uid. */
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly now: number;
}

export interface DrainPlan {
  /** A pod must not be moved: nothing is evicted for a drain that cannot end. */
  readonly hopeless?: Reason | undefined;
  /** Everything that must be gone before the machine may go. */
  readonly leaving: readonly Pod[];
  /** To be asked now, in this order. */
  readonly evict: readonly Pod[];
  readonly waitingFor?: Reason | undefined;
}

/** system-cluster-critical; system-node-critical is above it. */
const criticalPriority = 2_000_000_000;
const prefix = 'cluster-autoscaler.kubernetes.io/';

/** Who leaves a node next. The least important first, and what others rely on only when they are gone. */
export function planDrain(pods: readonly Pod[], context: DrainContext): DrainPlan {
  const leaving = pods.filter(mustGo);
  const staying = leaving.filter((pod) => !keepsNobody(pod, context.settings) && whyStays(pod, context));
  const [stays] = staying.filter((pod) => !endsByItself(pod));
  if (stays) return { hopeless: whyStays(stays, context), leaving, evict: [] };
  const ordinary = leaving.filter((pod) => (pod.priority ?? 0) < criticalPriority);
  const due = (ordinary.length > 0 ? ordinary : leaving).filter(
    (pod) => !pod.terminating && !staying.includes(pod),
  );
  return {
    leaving,
    evict: due
      .filter(({ uid }) => (context.refusals.get(uid)?.notBefore ?? 0) <= context.now)
      .sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0) || byText(podName(a), podName(b))),
    waitingFor: whatFor(leaving, staying, context),
  };
}

/** DaemonSet and static pods stay with their node to the end. */
const mustGo = (pod: Pod): boolean =>
  !pod.finished && !pod.belongsToNode && pod.annotations?.[`${prefix}daemonset-pod`] !== 'true';

/** Waiting helps, and evicting would undo its work. */
const endsByItself = (pod: Pod): boolean =>
  pod.owner?.kind === 'Job' || pod.annotations?.[`${prefix}safe-to-evict`] === 'on-completion';

function whyStays(pod: Pod, { settings, budgets, now }: DrainContext): Reason | undefined {
  const own = budgets.filter(
    ({ namespace, selector }) => namespace === pod.namespace && selects(selector, pod.labels ?? {}),
  );
  return blocked(pod, { settings, now, budgets: own });
}

function whatFor(
  leaving: readonly Pod[],
  staying: readonly Pod[],
  { refusals }: DrainContext,
): Reason | undefined {
  const refused = leaving.find((pod) => refusals.has(pod.uid) && !pod.terminating);
  if (refused)
    return {
      code: 'eviction-refused',
      pod: podName(refused),
      answer: refusals.get(refused.uid)?.why ?? '',
    };
  const [running] = staying;
  if (running) return { code: 'pod-completing', pod: podName(running) };
  const ending = leaving.filter(({ terminating }) => terminating);
  const [first] = ending;
  return first && { code: 'pods-terminating', pod: podName(first), pods: ending.length };
}

/** The longest pause before a pod that was refused is asked again. */
const longestPauseMs = 60_000;

/** As long as the server says, and longer every time. */
export function refusedAgain(
  before: Refusal | undefined,
  { why, retryAfterMs = 0 }: { readonly why: string; readonly retryAfterMs?: number | undefined },
  evictEveryMs: number,
  now: number,
): Refusal {
  const tries = (before?.tries ?? 0) + 1;
  const pause = Math.min(evictEveryMs * 2 ** (tries - 1), longestPauseMs);
  return { tries, why, notBefore: now + Math.max(pause, retryAfterMs) };
}
