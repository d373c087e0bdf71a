import type { DeleteOptions } from './deletion.ts';
import type { DisruptionBudget, Pod } from './objects.ts';
import { disruptionBudgets, pods } from './resource-types.ts';
import { matchLabels } from './selectors.ts';
import { StatusError } from './status-error.ts';
import type { Store } from './store.ts';

const wouldViolate = (message: string, retryAfterSeconds?: number) =>
  new StatusError(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
    },
  );

const isReady = ({ status }: Pod) =>
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

/** A pod that is not doing anything yet or any more cannot be missed. */
const isIdle = ({ metadata, status }: Pod) =>
  Boolean(metadata.deletionTimestamp) || ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '');

/** Takes one disruption from the budget, or says why not. */
function spend(store: Store, budget: DisruptionBudget, pod: Pod): void {
  const { name } = budget.metadata;
  const {
    disruptionsAllowed = 0,
    desiredHealthy = 0,
    currentHealthy = 0,
    disruptedPods = {},
  } = budget.status;
  if ((budget.status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0))
    throw wouldViolate(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (disruptionsAllowed <= 0)
    throw wouldViolate(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  // Counted here and now, so that the next eviction does not rely on a controller having noticed this one.
  const disrupted = { ...disruptedPods, [pod.metadata.name]: store.timestamp() };
  store.modify(
    disruptionBudgets,
    budget,
    (current) => ({
      ...current,
      status: { ...current.status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods: disrupted },
    }),
    'status',
  );
}

function needsBudget(budget: DisruptionBudget, pod: Pod): boolean {
  if (isReady(pod)) return true;
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status;
  // A pod that is not healthy anyway may go as long as enough others are.
  return !(currentHealthy >= desiredHealthy && desiredHealthy > 0);
}

/** Deletes a pod if its disruption budget allows it. */
export function evict(store: Store, namespace: string, name: string, options: DeleteOptions): object {
  if (options.dryRun?.includes('All'))
    return store.dryRun(() => evict(store, namespace, name, { ...options, dryRun: undefined }));
  const pod = store.find(pods, namespace, name);
  if (!isIdle(pod)) {
    const budgets = [...store.list(disruptionBudgets, namespace)].filter(({ spec }) =>
      matchLabels(spec.selector)(pod.metadata.labels),
    );
    if (budgets.length > 1)
      throw new StatusError(
        500,
        '',
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    const [budget] = budgets;
    if (budget && needsBudget(budget, pod)) spend(store, budget, pod);
    markDisrupted(store, pod);
  }
  store.delete(pods, namespace, name, options);
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

function markDisrupted(store: Store, pod: Pod): void {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: store.timestamp(),
  };
  store.modify(
    pods,
    pod,
    (current) => ({
      ...current,
      status: { ...current.status, conditions: [...(current.status.conditions ?? []), condition] },
    }),
    'status',
  );
}
