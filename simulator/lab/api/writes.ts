import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch, applyStrategicPatch } from './merge-patch.ts';
import type { KubeObject } from './objects.ts';
import { objectFrom, parseBody, type Target, unsupportedMediaType } from './request.ts';
import type { ResourceType } from './resource-types.ts';
import { badRequest } from './status-error.ts';
import type { Part, Store } from './store.ts';

type Patch = (object: unknown, patch: unknown) => unknown;

const patches: Readonly<Record<string, Patch>> = {
  'application/json-patch+json': applyJsonPatch,
  'application/merge-patch+json': applyMergePatch,
  'application/strategic-merge-patch+json': applyStrategicPatch,
  // Server-side apply, without ownership of fields: what is applied is merged.
  'application/apply-patch+yaml': applyStrategicPatch,
};
const apply = 'application/apply-patch+yaml';
const strategic = 'application/strategic-merge-patch+json';

export const DeleteOptions = z.looseObject({
  gracePeriodSeconds: z
    .number()
    .int()
    .nullish()
    .transform((value) => value ?? undefined),
  propagationPolicy: z
    .string()
    .nullish()
    .transform((value) => value ?? undefined),
  dryRun: z
    .array(z.string())
    .nullish()
    .transform((value) => value ?? undefined),
  orphanDependents: z
    .boolean()
    .nullish()
    .transform((value) => value ?? undefined),
  preconditions: z
    .looseObject({ uid: z.string().optional(), resourceVersion: z.string().optional() })
    .nullish()
    .transform((value) => value ?? undefined),
});

const partOf = ({ subresource }: Target): Part => (subresource === 'status' ? 'status' : 'main');

export interface Written {
  readonly code: number;
  readonly object: KubeObject;
}

export function create(store: Store, target: Target, body: unknown): Written {
  const object = objectFrom(target, body);
  return { code: 201, object: store.create(store.types.stored(target.type), object) };
}

export function update(store: Store, target: Target, body: unknown): Written {
  const object = objectFrom(target, body);
  return { code: 200, object: store.update(store.types.stored(target.type), object, partOf(target)) };
}

function patchFor(type: ResourceType, mediaType: string): Patch {
  const patch = patches[mediaType];
  const accepted = Object.keys(patches).filter((one) => !type.custom || one !== strategic);
  if (!patch || !accepted.includes(mediaType)) throw unsupportedMediaType(accepted);
  return type.custom && mediaType === apply ? applyMergePatch : patch;
}

export function patch(store: Store, target: Target, mediaType: string, text: string): Written {
  const { type, namespace, name = '' } = target;
  const change = patchFor(type, mediaType);
  const stored = store.types.stored(type);
  const body = mediaType === apply ? parseYaml(text) : parseBody(text, 'application/json');
  if (mediaType === apply && !store.get(stored, namespace, name)) return create(store, target, body);
  const current = store.find(stored, namespace, name);
  const face = type.alias?.fromStored(current) ?? current;
  // The patch sees the version too: one that names another version than the current is refused.
  return update(store, target, change(face, body));
}

export function deleteOptions(query: URLSearchParams, body: unknown) {
  const result = DeleteOptions.safeParse(body ?? {});
  if (!result.success) throw badRequest(`DeleteOptions are malformed: ${z.prettifyError(result.error)}`);
  const grace = query.get('gracePeriodSeconds');
  return {
    ...result.data,
    gracePeriodSeconds: result.data.gracePeriodSeconds ?? (grace === null ? undefined : Number(grace)),
    propagationPolicy: result.data.propagationPolicy ?? query.get('propagationPolicy') ?? undefined,
  };
}

/** What is left of the object, or the real server's word that nothing is. */
export function remove(
  store: Store,
  target: Target,
  query: URLSearchParams,
  body: unknown,
): KubeObject | object {
  const { type, namespace, name = '' } = target;
  const stored = store.types.stored(type);
  const { object, gone } = store.delete(stored, namespace, name, deleteOptions(query, body));
  if (!gone || type.returnsDeleted) return object;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(type.group ? { group: type.group } : {}),
      kind: type.plural,
      uid: object.metadata.uid,
    },
  };
}
