import type { Change } from '../api/history.ts';
import type { LabApi } from '../api/index.ts';
import { pods, type ResourceType } from '../api/resource-types.ts';
import { type Clock, timerGroup } from '../rack/clock.ts';
import type { Context, Controller } from './context.ts';
import { daemonSetController } from './daemonset.ts';
import { Dependents } from './dependents.ts';
import { deploymentController } from './deployment.ts';
import { disruptionController } from './disruption.ts';
import { eventExpiry } from './event-expiry.ts';
import { garbageCollector } from './garbage-collector.ts';
import { jobController } from './job.ts';
import { namespaceController } from './namespace.ts';
import { nodeLifecycleController } from './node-lifecycle.ts';
import { podGarbageCollector } from './pod-gc.ts';
import { PodsByNode } from './pods-by-node.ts';
import { replicaSetController } from './replicaset.ts';
import { schedulerController } from './scheduler.ts';
import { serviceAccountController } from './serviceaccount.ts';
import type { Settings } from './settings.ts';
import { statefulSetController } from './statefulset.ts';
import { taintEviction } from './taint-eviction.ts';
import { WorkLoop } from './work-loop.ts';

export interface ControllerOptions extends Partial<Settings> {
  clock?: Clock | undefined;
  log?: ((message: string, fields: object) => void) | undefined;
}

const controllers: readonly Controller[] = [
  garbageCollector,
  namespaceController,
  serviceAccountController,
  deploymentController,
  replicaSetController,
  daemonSetController,
  statefulSetController,
  jobController,
  disruptionController,
  nodeLifecycleController,
  taintEviction,
  podGarbageCollector,
  schedulerController,
  eventExpiry,
];

export interface Controllers {
  /** Nothing is left to do until something changes or time passes. */
  readonly idle: boolean;
  /** Does all work there is, now. */
  drain(): void;
  stop(): void;
}

/** The control loops of a cluster, in this process: what a controller manager and a scheduler do. */
export function startControllers(
  { store }: Pick<LabApi, 'store'>,
  options: ControllerOptions = {},
): Controllers {
  const { clock = store.clock, log = () => {}, ...settings } = options;
  const timers = timerGroup(clock);
  const work = new WorkLoop(log);
  const dependents = new Dependents();
  const podsByNode = new PodsByNode();
  const handlers = new Map<string, ((change: Change) => void)[]>();
  const keyOf = ({ group, plural }: ResourceType) => `${group}/${plural}`;
  const onAny: ((change: Change) => void)[] = [(change) => dependents.apply(change)];
  const context: Context = {
    store,
    clock,
    timers,
    work,
    dependents,
    podsByNode,
    settings: {
      nodeGraceMs: 40_000,
      podGcMs: 40_000,
      eventTtlMs: 3_600_000,
      prefer: 'least-allocated',
      ...settings,
    },
    on: (type, handler) => {
      const list = handlers.get(keyOf(type)) ?? [];
      // A handler is only ever given changes of its own type.
      handlers.set(keyOf(type), [...list, handler as (change: Change) => void]);
    },
    onAny: (handler) => onAny.push(handler),
  };
  // Before any controller hears of a pod, the index knows where it is.
  context.on(pods, (change) => podsByNode.apply(change));
  for (const controller of controllers) controller(context);
  const tell = (change: Change) => {
    for (const handler of onAny) handler(change);
    for (const handler of handlers.get(keyOf(change.resource)) ?? []) handler(change);
  };
  for (const resource of store.types.all())
    for (const object of resource.alias ? [] : [...store.list(resource)])
      tell({ type: 'ADDED', resource, object, previous: undefined, version: store.version });
  const unsubscribe = store.subscribe(tell);
  return {
    get idle() {
      return work.idle;
    },
    drain: () => work.drain(),
    stop() {
      unsubscribe();
      timers.cancelAll();
      work.stop();
    },
  };
}
