import { createHash } from 'node:crypto';
import type { Change } from '../api/history.ts';
import type { Draft, KubeObject, OwnerReference, Pod, PodTemplate, Workload } from '../api/objects.ts';
import { events, pods, type ResourceType } from '../api/resource-types.ts';
import type { Store } from '../api/store.ts';
import type { Clock, timerGroup } from '../rack/clock.ts';
import type { Dependents } from './dependents.ts';
import type { PodsByNode, TypedChange } from './pods-by-node.ts';
import type { Settings } from './settings.ts';
import type { WorkLoop } from './work-loop.ts';

/** What every controller is given. */
export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly timers: ReturnType<typeof timerGroup>;
  readonly work: WorkLoop;
  readonly settings: Settings;
  readonly dependents: Dependents;
  readonly podsByNode: PodsByNode;
  /** Calls back for every object there is and for every change after that. */
  on<T extends KubeObject>(type: ResourceType<T>, handler: (change: TypedChange<T>) => void): void;
  onAny(handler: (change: Change) => void): void;
}

export type Controller = (context: Context) => void;

export const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

/**
 * Runs `run` on an object whenever it, or something of type `owned` that it controls, has changed.
 * The function it gives back asks for a run for any other reason.
 */
export function reconcile<T extends KubeObject>(
  { store, work, on }: Context,
  type: ResourceType<T>,
  owned: readonly ResourceType[],
  run: (object: T) => void,
): (namespace: string | undefined, name: string) => void {
  const enqueue = (namespace: string | undefined, name: string) =>
    work.add(`${type.plural}/${namespace}/${name}`, () => {
      const object = store.get(type, namespace, name);
      if (object) run(object);
    });
  on(type, ({ object }) => enqueue(object.metadata.namespace, object.metadata.name));
  for (const child of owned)
    on(child, ({ object, previous }) => {
      for (const owner of [controllerOf(object), previous && controllerOf(previous)])
        if (owner?.kind === type.kind) enqueue(object.metadata.namespace, owner.name);
    });
  return enqueue;
}

export const ownerReference = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** A pod of a workload, to be created. */
export function podFrom(
  owner: Workload,
  template: PodTemplate,
  labels: Record<string, string> = {},
): Draft<Pod> {
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      labels: { ...template.metadata?.labels, ...labels },
      annotations: template.metadata?.annotations,
      finalizers: template.metadata?.finalizers,
      ownerReferences: [ownerReference(owner)],
    },
    spec: template.spec ?? { containers: [] },
  };
}

const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for a value, in letters that form no words. */
export function hashOf(value: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest();
  return Array.from(digest.subarray(0, 10), (byte) => letters[byte % letters.length]).join('');
}

export function removePod({ store }: Context, pod: Pod, gracePeriodSeconds?: number): void {
  const { namespace, name } = pod.metadata;
  if (store.get(pods, namespace, name)?.metadata.uid === pod.metadata.uid)
    store.delete(pods, namespace, name, { gracePeriodSeconds });
}

/** An Event about an object. The same thing happening again is counted, not told anew. */
export function record(
  { store }: Pick<Context, 'store'>,
  about: KubeObject,
  event: { type: 'Normal' | 'Warning'; reason: string; message: string; component: string },
): void {
  const { name, namespace = 'default', uid, resourceVersion } = about.metadata;
  const at = store.timestamp();
  const eventName = `${name}.${hashOf([uid, event.reason])}`;
  const known = store.get(events, namespace, eventName) as (KubeObject & { count?: number }) | undefined;
  const { component, ...told } = event;
  if (known) {
    store.update(events, {
      ...known,
      ...told,
      lastTimestamp: at,
      count: (known.count ?? 1) + 1,
    } as KubeObject);
    return;
  }
  const { apiVersion, kind } = about;
  store.create(events, {
    metadata: { name: eventName, namespace },
    ...told,
    involvedObject: { apiVersion, kind, name, namespace: about.metadata.namespace, uid, resourceVersion },
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  } as Draft);
}
