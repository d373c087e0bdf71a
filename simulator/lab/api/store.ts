import { randomUUID } from 'node:crypto';
import { type Clock, realClock } from '../rack/clock.ts';
import { admitted } from './admission.ts';
import { withDefaults } from './defaults.ts';
import { type DeleteOptions, deletionOf } from './deletion.ts';
import { type Change, History } from './history.ts';
import { sameJson } from './json.ts';
import type { Draft, KubeObject, ObjectMeta, Pod } from './objects.ts';
import { builtinTypes, groupVersionOf, namespaces, pods, type ResourceType } from './resource-types.ts';
import { alreadyExists, conflict, invalid, notFound, staleVersion } from './status-error.ts';
import { TypeTable } from './type-table.ts';
import { changeCauses, nameCauses, specCauses, versionNeeded } from './validate.ts';

export interface StoreOptions {
  clock?: Clock | undefined;
  /** How many changes a watch can be behind before it must list again. */
  historySize?: number | undefined;
}

export type Part = 'main' | 'status';
export type Listener = (change: Change) => void;

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const randomSuffix = () =>
  Array.from({ length: 5 }, () => suffixLetters[Math.floor(Math.random() * suffixLetters.length)]).join('');

/** The cluster's objects in memory, with the semantics of the real server's storage. */
export class Store {
  readonly clock: Clock;
  readonly types = new TypeTable(builtinTypes);
  readonly history: History;
  readonly #objects = new Map<string, Map<string, Map<string, KubeObject>>>();
  readonly #uids = new Map<string, KubeObject>();
  readonly #listeners = new Set<Listener>();
  readonly #undelivered: Change[] = [];
  #delivering = false;
  #dry = false;
  #version = 1;
  #second = { at: Number.NaN, text: '' };

  constructor(options: StoreOptions = {}) {
    this.clock = options.clock ?? realClock();
    this.history = new History(options.historySize ?? 10_000);
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
      this.create(namespaces, { metadata: { name } });
  }

  get version(): number {
    return this.#version;
  }

  /** Now, to the second, as Kubernetes writes times. */
  timestamp(): string {
    const second = Math.floor(this.clock.now() / 1000);
    if (second !== this.#second.at) {
      this.#second = { at: second, text: new Date(second * 1000).toISOString().replace('.000Z', 'Z') };
    }
    return this.#second.text;
  }

  get<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    name: string,
  ): T | undefined {
    return this.#space(type, namespace ?? '')?.get(name) as T | undefined;
  }

  /** As get, or 404. */
  find<T extends KubeObject>(type: ResourceType<T>, namespace: string | undefined, name: string): T {
    const object = this.get(type, namespace, name);
    if (!object) throw notFound(type, name);
    return object;
  }

  byUid(uid: string): KubeObject | undefined {
    return this.#uids.get(uid);
  }

  /** Objects of one namespace, or of all. */
  *list<T extends KubeObject>(type: ResourceType<T>, namespace?: string): Generator<T> {
    const spaces = this.#objects.get(storageKey(type));
    const chosen = namespace === undefined ? (spaces?.values() ?? []) : [spaces?.get(namespace) ?? new Map()];
    for (const space of chosen) for (const object of space.values()) yield object as T;
  }

  create<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>): T {
    const { generateName } = draft.metadata;
    const name =
      draft.metadata.name || (generateName ? this.#freeName(type, draft, generateName) : undefined);
    const causes = nameCauses(type, name);
    if (causes.length || !name) throw invalid(type, name ?? '', causes);
    const { namespace, resourceVersion: _, ...metadata } = draft.metadata;
    const object: KubeObject = {
      ...draft,
      apiVersion: groupVersionOf(type),
      kind: type.kind,
      metadata: {
        ...cleaned(metadata),
        name,
        ...(type.namespaced ? { namespace: namespace ?? 'default' } : {}),
        uid: randomUUID(),
        resourceVersion: '',
        creationTimestamp: this.timestamp(),
        deletionTimestamp: undefined,
        deletionGracePeriodSeconds: undefined,
        generation: type.generation ? 1 : undefined,
      },
    };
    if (this.get(type, object.metadata.namespace, name)) throw alreadyExists(type, name);
    const ready = withDefaults(admitted(this, type, object), true);
    const wrong = specCauses(type, ready);
    if (wrong.length) throw invalid(type, name, wrong);
    return this.#commit(type, 'ADDED', ready, undefined) as T;
  }

  /** Writes `incoming` over the object of its name; its resourceVersion, if any, must be the current one. */
  update<T extends KubeObject>(type: ResourceType<T>, incoming: T, part: Part = 'main'): T {
    const { name, namespace, uid, resourceVersion } = incoming.metadata;
    const current = this.find(type, namespace, name);
    if (resourceVersion && resourceVersion !== current.metadata.resourceVersion)
      throw staleVersion(type, name);
    if (!resourceVersion && type.needsVersion) throw invalid(type, name, [versionNeeded]);
    if (uid && uid !== current.metadata.uid)
      throw conflict(
        type,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
      );
    const next = withDefaults(merged(type, current, incoming, part), false);
    if (sameJson(current, next)) return current;
    const causes = part === 'main' ? [...specCauses(type, next), ...changeCauses(type, current, next)] : [];
    if (causes.length) throw invalid(type, name, causes);
    const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = next.metadata;
    if (deletionTimestamp && !finalizers?.length && !deletionGracePeriodSeconds && !heldBySpec(next))
      return this.#commit(type, 'DELETED', next, current) as T;
    return this.#commit(type, 'MODIFIED', next, current) as T;
  }

  /** Reads, changes and writes at once; an object that is gone is left alone. */
  modify<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    change: (current: T) => T,
    part: Part = 'main',
  ): void {
    const current = this.get(type, object.metadata.namespace, object.metadata.name);
    if (current && current.metadata.uid === object.metadata.uid) this.update(type, change(current), part);
  }

  /** Deletes, or begins to: finalizers and a pod's grace period keep the object for a while. */
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): { object: T; gone: boolean } {
    if (options.dryRun?.includes('All'))
      return this.dryRun(() => this.delete(type, namespace, name, { ...options, dryRun: undefined }));
    const current = this.find(type, namespace, name);
    const { marked, gone } = deletionOf(type, current, options, this.clock.now());
    const object = sameJson(current, marked) ? current : this.#commit(type, 'MODIFIED', marked, current);
    return { object: (gone ? this.#commit(type, 'DELETED', object, object) : object) as T, gone };
  }

  /** Writes spec and status of a pod at once: only binding it to a node may. */
  place(pod: Pod): void {
    const current = this.find(pods, pod.metadata.namespace, pod.metadata.name);
    this.#commit(pods, 'MODIFIED', pod, current);
  }

  /** Does everything but the writing. */
  dryRun<R>(work: () => R): R {
    const before = this.#dry;
    this.#dry = true;
    try {
      return work();
    } finally {
      this.#dry = before;
    }
  }

  /** Changes are delivered in order, after the write that made them; a listener may write. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  compact(): void {
    this.history.compact(this.#version);
  }

  /** With tens of thousands of pods random names do meet. */
  #freeName(type: ResourceType, { metadata }: Draft, prefix: string): string {
    for (;;) {
      const name = `${prefix}${randomSuffix()}`;
      if (!this.get(type, metadata.namespace, name)) return name;
    }
  }

  #space(type: ResourceType, namespace: string): Map<string, KubeObject> | undefined {
    return this.#objects.get(storageKey(type))?.get(namespace);
  }

  #commit(
    type: ResourceType,
    kind: Change['type'],
    draft: KubeObject,
    previous: KubeObject | undefined,
  ): KubeObject {
    if (this.#dry) return draft;
    const version = ++this.#version;
    const object = { ...draft, metadata: { ...draft.metadata, resourceVersion: `${version}` } };
    const { namespace = '', name, uid } = object.metadata;
    if (kind === 'DELETED') {
      this.#space(type, namespace)?.delete(name);
      this.#uids.delete(uid);
    } else {
      this.#uids.set(uid, object);
      const spaces = this.#objects.get(storageKey(type)) ?? new Map<string, Map<string, KubeObject>>();
      this.#objects.set(storageKey(type), spaces);
      const space = spaces.get(namespace) ?? new Map<string, KubeObject>();
      spaces.set(namespace, space);
      space.set(name, object);
    }
    const change = { type: kind, resource: type, object, previous, version };
    this.history.add(change);
    this.#undelivered.push(change);
    this.#deliver();
    return object;
  }

  /** A listener that writes does not get ahead of the listeners after it: its change waits its turn. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let change = this.#undelivered.shift(); change; change = this.#undelivered.shift())
        for (const listener of this.#listeners) listener(change);
    } finally {
      this.#delivering = false;
    }
  }
}

const storageKey = ({ group, plural }: ResourceType) => `${group}/${plural}`;

/** Without the server-side bookkeeping the lab does not do, and without lists and maps that are empty. */
function cleaned(metadata: Partial<ObjectMeta>): Partial<ObjectMeta> {
  const ignored = (key: string) => key === 'managedFields' || key === 'selfLink';
  const empty = (value: unknown) => typeof value === 'object' && value !== null && !Object.keys(value).length;
  return Object.fromEntries(
    Object.entries(metadata).filter(([key, value]) => !ignored(key) && !empty(value)),
  );
}

function heldBySpec({ kind, spec }: KubeObject): boolean {
  return kind === 'Namespace' && Boolean((spec as { finalizers?: string[] } | undefined)?.finalizers?.length);
}

/** What an update amounts to: the part it may write from `incoming`, everything else as it was. */
function merged<T extends KubeObject>(type: ResourceType<T>, current: T, incoming: T, part: Part): T {
  const own = current.metadata;
  const metadata: ObjectMeta = {
    ...(type.custom && part === 'status' ? own : (cleaned(incoming.metadata) as ObjectMeta)),
    name: own.name,
    namespace: own.namespace,
    uid: own.uid,
    resourceVersion: own.resourceVersion,
    creationTimestamp: own.creationTimestamp,
    deletionTimestamp: own.deletionTimestamp,
    deletionGracePeriodSeconds: own.deletionGracePeriodSeconds,
    generateName: own.generateName,
    generation: own.generation,
  };
  if (part === 'status') return { ...current, metadata, status: incoming.status };
  const status = type.status ? current.status : incoming.status;
  const next = { ...incoming, apiVersion: current.apiVersion, kind: current.kind, metadata, status };
  if (type.generation && !sameJson(next.spec, current.spec)) metadata.generation = (own.generation ?? 0) + 1;
  return next;
}
