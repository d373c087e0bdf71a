import type { Condition, Pod, Workload } from '../api/objects.ts';
import { jobs, pods } from '../api/resource-types.ts';
import { type Context, controllerOf, podFrom, reconcile, removePod } from './context.ts';
import { conditionOf, isActive, isReady, withCondition } from './pod-state.ts';

/** Pods of a job that have ended, also when they have since been deleted. */
interface Tally {
  readonly succeeded: Set<string>;
  readonly failed: Set<string>;
}

const burst = 500;

const isOver = ({ status }: Workload) =>
  ['Complete', 'Failed'].some((type) => conditionOf(status.conditions, type)?.status === 'True');

const finalConditions: Readonly<Record<'Complete' | 'Failed', readonly Condition[]>> = {
  Complete: [
    {
      type: 'SuccessCriteriaMet',
      status: 'True',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    },
    {
      type: 'Complete',
      status: 'True',
      reason: 'CompletionsReached',
      message: 'Reached expected number of succeeded pods',
    },
  ],
  Failed: [
    {
      type: 'FailureTarget',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    },
    {
      type: 'Failed',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    },
  ],
};

export function jobController(context: Context): void {
  const { store, dependents, on, timers } = context;
  const tallies = new Map<string, Tally>();
  const tallyOf = (uid: string) => {
    const tally = tallies.get(uid) ?? { succeeded: new Set(), failed: new Set() };
    tallies.set(uid, tally);
    return tally;
  };

  on(pods, ({ type, object }) => {
    const owner = controllerOf(object);
    if (owner?.kind !== jobs.kind || !store.byUid(owner.uid)) return;
    const { succeeded, failed } = tallyOf(owner.uid);
    if (object.status.phase === 'Succeeded') succeeded.add(object.metadata.uid);
    // A pod that is gone without having succeeded, an evicted one for instance, has failed.
    else if (type === 'DELETED' || object.status.phase === 'Failed') failed.add(object.metadata.uid);
  });
  on(jobs, ({ type, object }) => {
    if (type === 'DELETED') tallies.delete(object.metadata.uid);
  });

  const verdict = ({ spec }: Workload, { succeeded, failed }: Tally, active: readonly Pod[]) => {
    if (failed.size > (spec.backoffLimit ?? 6)) return 'Failed';
    const done =
      spec.completions === undefined
        ? succeeded.size > 0 && !active.length
        : succeeded.size >= spec.completions;
    return done ? 'Complete' : undefined;
  };

  const adjust = (job: Workload, succeeded: number, active: readonly Pod[]) => {
    const { completions, parallelism = 1, suspend } = job.spec;
    // Without a number of completions the first success ends it: no more pods are made.
    const open =
      completions === undefined ? (succeeded ? active.length : parallelism) : completions - succeeded;
    const wanted = suspend ? 0 : Math.min(parallelism, open);
    const missing = Math.min(wanted - active.length, burst);
    for (let made = 0; made < missing; made++) store.create(pods, podFrom(job, job.spec.template));
    for (const pod of active.slice(Math.max(0, wanted))) removePod(context, pod);
  };

  const expire = ({ metadata, spec }: Workload) => {
    if (spec.ttlSecondsAfterFinished === undefined) return;
    timers.after(spec.ttlSecondsAfterFinished * 1000, () => {
      if (store.byUid(metadata.uid))
        store.delete(jobs, metadata.namespace, metadata.name, { propagationPolicy: 'Background' });
    });
  };

  reconcile(context, jobs, [pods], (job) => {
    const tally = tallyOf(job.metadata.uid);
    const activePods = () => dependents.controlled(pods, job.metadata.uid).filter(isActive);
    const over = isOver(job);
    const end = over ? undefined : verdict(job, tally, activePods());
    if (end === 'Failed') for (const pod of activePods()) removePod(context, pod);
    else if (!over && !end && !job.metadata.deletionTimestamp)
      adjust(job, tally.succeeded.size, activePods());
    const active = activePods();
    const at = store.timestamp();
    const { active: _, ready: __, ...before } = job.status;
    const conditions = (end ? finalConditions[end] : []).reduce(
      (all, condition) => withCondition(all, condition, at),
      job.status.conditions ?? [],
    );
    const status = {
      ...before,
      startTime: job.status.startTime ?? at,
      ...(active.length ? { active: active.length } : {}),
      ready: active.filter(isReady).length,
      ...(tally.succeeded.size ? { succeeded: tally.succeeded.size } : {}),
      ...(tally.failed.size ? { failed: tally.failed.size } : {}),
      ...(end === 'Complete' ? { completionTime: at } : {}),
      ...(conditions.length ? { conditions } : {}),
    };
    store.modify(jobs, job, (current) => ({ ...current, status }), 'status');
    if (end) expire(job);
  });
}
