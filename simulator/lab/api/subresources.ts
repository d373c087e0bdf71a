import { z } from 'zod';
import { evict } from './eviction.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import type { Pod, Workload } from './objects.ts';
import type { Target } from './request.ts';
import { namespaces, pods, type ResourceType } from './resource-types.ts';
import { badRequest, conflict, methodNotAllowed, unknownPath } from './status-error.ts';
import type { Store } from './store.ts';
import { DeleteOptions } from './writes.ts';

export interface Call {
  readonly method: string;
  readonly target: Target;
  readonly mediaType: string;
  /** Parsed only by those who need it. */
  readonly body: () => unknown;
}

export interface Answer {
  readonly code: number;
  readonly body: object | string;
}

function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (!result.success) throw badRequest(`the body is malformed: ${z.prettifyError(result.error)}`);
  return result.data;
}

const Eviction = z.looseObject({
  metadata: z.looseObject({ name: z.string().optional() }).optional(),
  deleteOptions: DeleteOptions.nullish(),
});

function eviction(store: Store, { target, body }: Call): Answer {
  const { namespace = '', name = '' } = target;
  const given = parsed(Eviction, body());
  if (given.metadata?.name && given.metadata.name !== name)
    throw badRequest(`name in URL does not match name in Eviction object`);
  return { code: 201, body: evict(store, namespace, name, given.deleteOptions ?? {}) };
}

const Binding = z.looseObject({ target: z.looseObject({ name: z.string() }) });

/** Puts a pod on a node, once. */
export function bind(store: Store, pod: Pod, node: string): void {
  if (pod.spec.nodeName)
    throw conflict(
      { ...pods, plural: 'pods/binding' },
      pod.metadata.name,
      `pod ${pod.metadata.name} is already assigned to node "${pod.spec.nodeName}"`,
    );
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: store.timestamp() };
  const others = (pod.status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  store.place({
    ...pod,
    spec: { ...pod.spec, nodeName: node },
    status: { ...pod.status, conditions: [...others, scheduled] },
  });
}

function binding(store: Store, { target, body }: Call): Answer {
  bind(store, store.find(pods, target.namespace, target.name ?? ''), parsed(Binding, body()).target.name);
  return {
    code: 201,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  };
}

function log(store: Store, { target }: Call): Answer {
  const { metadata, spec } = store.find(pods, target.namespace, target.name ?? '');
  return {
    code: 200,
    body: `${metadata.namespace}/${metadata.name} runs on ${spec.nodeName ?? 'no node'} of the lab\n`,
  };
}

function scaleOf({ metadata, spec, status }: Workload) {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const labels = Object.entries(spec.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: spec.replicas ?? 1 },
    status: { replicas: status.replicas ?? 0, selector: labels.join(',') },
  };
}

const Scale = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string().optional() }).optional(),
  spec: z.looseObject({ replicas: z.number().int().min(0).default(0) }),
});

function scale(store: Store, { method, target, mediaType, body }: Call): Answer {
  const type = target.type as ResourceType<Workload>;
  const current = store.find(type, target.namespace, target.name ?? '');
  if (method === 'GET') return { code: 200, body: scaleOf(current) };
  const change = mediaType === 'application/json-patch+json' ? applyJsonPatch : applyMergePatch;
  const wanted = parsed(Scale, method === 'PUT' ? body() : change(scaleOf(current), body()));
  const updated = store.update(type, {
    ...current,
    metadata: { ...current.metadata, resourceVersion: wanted.metadata?.resourceVersion ?? '' },
    spec: { ...current.spec, replicas: wanted.spec.replicas },
  });
  return { code: 200, body: scaleOf(updated) };
}

const Finalize = z.looseObject({
  spec: z.looseObject({ finalizers: z.array(z.string()).optional() }).optional(),
});

function finalize(store: Store, { target, body }: Call): Answer {
  const current = store.find(namespaces, undefined, target.name ?? '');
  const finalizers = parsed(Finalize, body()).spec?.finalizers ?? [];
  return { code: 200, body: store.update(namespaces, { ...current, spec: { finalizers } }) };
}

const actions: Readonly<Record<string, { methods: string[]; run: (store: Store, call: Call) => Answer }>> = {
  'pods/eviction': { methods: ['POST'], run: eviction },
  'pods/binding': { methods: ['POST'], run: binding },
  'pods/log': { methods: ['GET'], run: log },
  'namespaces/finalize': { methods: ['PUT'], run: finalize },
};
const scaling = { methods: ['GET', 'PUT', 'PATCH'], run: scale };

/** What lies below an object, other than its status. */
export function subresource(store: Store, call: Call): Answer {
  const { type, subresource: name } = call.target;
  const action =
    name === 'scale' && type.scale ? scaling : type.group ? undefined : actions[`${type.plural}/${name}`];
  if (!action) throw unknownPath();
  if (!action.methods.includes(call.method)) throw methodNotAllowed();
  return action.run(store, call);
}
