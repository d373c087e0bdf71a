import type { DisruptionBudget, KubeObject, Pod, Workload } from '../api/objects.ts';
import { deployments, disruptionBudgets, pods, replicaSets, statefulSets } from '../api/resource-types.ts';
import { type LabelMatcher, matchLabels } from '../api/selectors.ts';
import { type Context, controllerOf, reconcile } from './context.ts';
import { amountOf, isActive, isReady, withCondition } from './pod-state.ts';

/** An eviction whose pod has not gone after this long did not happen. */
const forgetEvictionMs = 2 * 60_000;

/** How many pods the workloads behind `chosen` want, or the number of pods where nobody says. */
function expectedPods({ store }: Context, chosen: readonly Pod[]): number {
  const scales = new Map<string, number>();
  let bare = 0;
  for (const pod of chosen) {
    const owner = controllerOf(pod);
    let workload: KubeObject | undefined = owner && store.byUid(owner.uid);
    const above = workload?.kind === replicaSets.kind ? controllerOf(workload) : undefined;
    if (above?.kind === deployments.kind) workload = store.byUid(above.uid) ?? workload;
    const scaled = [deployments, replicaSets, statefulSets].some(({ kind }) => kind === workload?.kind);
    if (workload && scaled) scales.set(workload.metadata.uid, (workload as Workload).spec.replicas ?? 1);
    else bare++;
  }
  return [...scales.values()].reduce((total, replicas) => total + replicas, bare);
}

function desiredHealthy({ spec }: DisruptionBudget, expected: number): number {
  if (spec.maxUnavailable !== undefined)
    return Math.max(0, expected - amountOf(spec.maxUnavailable, expected, Math.ceil));
  return amountOf(spec.minAvailable ?? 0, expected, Math.ceil);
}

/** The pods a budget is about, kept so that it need not look through its whole namespace at every change. */
interface Coverage {
  readonly selector: DisruptionBudget['spec']['selector'];
  readonly matches: LabelMatcher;
  readonly pods: Map<string, Pod>;
}

function sync(context: Context, budget: DisruptionBudget, covered: Iterable<Pod>): void {
  const { store, clock } = context;
  const chosen = [...covered].filter(isActive);
  const present = new Set(chosen.map(({ metadata }) => metadata.name));
  const disrupted = Object.entries(budget.status.disruptedPods ?? {}).filter(
    ([name, at]) => present.has(name) && clock.now() - Date.parse(at) < forgetEvictionMs,
  );
  const leaving = new Set(disrupted.map(([name]) => name));
  const healthy = chosen.filter((pod) => isReady(pod) && !leaving.has(pod.metadata.name)).length;
  const expected =
    budget.spec.maxUnavailable === undefined && typeof budget.spec.minAvailable === 'number'
      ? chosen.length
      : expectedPods(context, chosen);
  const desired = desiredHealthy(budget, expected);
  const allowed = expected > 0 ? Math.max(0, healthy - desired) : 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation ?? 0,
  };
  store.modify(
    disruptionBudgets,
    budget,
    (current) => ({
      ...current,
      status: {
        ...(disrupted.length ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
        conditions: withCondition(current.status.conditions, condition, store.timestamp()),
        currentHealthy: healthy,
        desiredHealthy: desired,
        disruptionsAllowed: allowed,
        expectedPods: expected,
        observedGeneration: budget.metadata.generation ?? 0,
      },
    }),
    'status',
  );
}

/** Keeps the status of disruption budgets: how many pods may be evicted now. */
export function disruptionController(context: Context): void {
  const { store, on, timers } = context;
  const coverages = new Map<string, Coverage>();

  const coverageOf = (budget: DisruptionBudget): Coverage => {
    const { selector } = budget.spec;
    const known = coverages.get(budget.metadata.uid);
    if (known && known.selector === selector) return known;
    const matches = matchLabels(selector);
    const found = new Map<string, Pod>();
    for (const pod of store.list(pods, budget.metadata.namespace))
      if (matches(pod.metadata.labels)) found.set(pod.metadata.uid, pod);
    const coverage = { selector, matches, pods: found };
    coverages.set(budget.metadata.uid, coverage);
    return coverage;
  };

  const again = reconcile(context, disruptionBudgets, [], (budget) => {
    sync(context, budget, coverageOf(budget).pods.values());
    if (budget.status.disruptedPods) timers.after(forgetEvictionMs, () => enqueue(budget));
  });
  const enqueue = ({ metadata }: KubeObject) => again(metadata.namespace, metadata.name);
  on(disruptionBudgets, ({ type, object }) => {
    if (type === 'DELETED') coverages.delete(object.metadata.uid);
  });
  on(pods, ({ type, object }) => {
    const { namespace, uid, labels } = object.metadata;
    for (const budget of store.list(disruptionBudgets, namespace)) {
      const coverage = coverageOf(budget);
      const is = type !== 'DELETED' && coverage.matches(labels);
      const was = coverage.pods.delete(uid);
      if (is) coverage.pods.set(uid, object);
      if (is || was) enqueue(budget);
    }
  });
  for (const type of [deployments, replicaSets, statefulSets])
    on(type, ({ object, previous }) => {
      if (previous && previous.spec.replicas === object.spec.replicas) return;
      for (const budget of store.list(disruptionBudgets, object.metadata.namespace)) enqueue(budget);
    });
}
