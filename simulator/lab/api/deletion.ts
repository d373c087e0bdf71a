import type { KubeObject, Namespace, Pod } from './objects.ts';
import type { ResourceType } from './resource-types.ts';
import { conflict } from './status-error.ts';

export interface DeleteOptions {
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: string | undefined;
  orphanDependents?: boolean | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
}

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

function graceOf(type: ResourceType, object: KubeObject, asked: number | undefined): number {
  if (type.kind !== 'Pod' || type.group) return 0;
  const { spec, status } = object as Pod;
  // Nobody is running it: there is nobody to wait for.
  if (!spec.nodeName || status.phase === 'Failed' || status.phase === 'Succeeded') return 0;
  const grace = asked ?? spec.terminationGracePeriodSeconds ?? 30;
  return grace < 0 ? 1 : grace;
}

function finalizersFor(type: ResourceType, object: KubeObject, options: DeleteOptions): string[] {
  const policy =
    options.propagationPolicy ??
    (options.orphanDependents === undefined
      ? type.orphans && !object.metadata.deletionTimestamp
        ? 'Orphan'
        : undefined
      : options.orphanDependents
        ? 'Orphan'
        : 'Background');
  const others = (object.metadata.finalizers ?? []).filter(
    (one) => policy === undefined || (one !== foregroundFinalizer && one !== orphanFinalizer),
  );
  if (policy === 'Foreground') return [...others, foregroundFinalizer];
  return policy === 'Orphan' ? [...others, orphanFinalizer] : others;
}

function checkPreconditions(type: ResourceType, { metadata }: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (uid && uid !== metadata.uid)
    throw conflict(
      type,
      metadata.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      type,
      metadata.name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`,
    );
}

/** What a delete makes of an object: marked as being deleted, or gone at once. */
export function deletionOf<T extends KubeObject>(
  type: ResourceType<T>,
  object: T,
  options: DeleteOptions,
  now: number,
): T | 'now' {
  checkPreconditions(type, object, options);
  const finalizers = finalizersFor(type, object, options);
  const before = object.metadata;
  const asked = graceOf(type, object, options.gracePeriodSeconds);
  // A second delete may shorten the wait, never lengthen it.
  const grace = before.deletionTimestamp ? Math.min(asked, before.deletionGracePeriodSeconds ?? 0) : asked;
  const isNamespace =
    type.kind === 'Namespace' && Boolean((object as unknown as Namespace).spec.finalizers?.length);
  if (!finalizers.length && grace === 0 && !isNamespace) return 'now';
  const unchanged = before.deletionTimestamp && grace === (before.deletionGracePeriodSeconds ?? 0);
  const at = new Date(Math.floor(now / 1000 + grace) * 1000).toISOString().replace('.000Z', 'Z');
  return {
    ...object,
    ...(isNamespace ? { status: { phase: 'Terminating' } } : {}),
    metadata: {
      ...before,
      finalizers: finalizers.length ? finalizers : undefined,
      deletionTimestamp: unchanged ? before.deletionTimestamp : at,
      deletionGracePeriodSeconds: grace,
      generation: before.generation && !before.deletionTimestamp ? before.generation + 1 : before.generation,
    },
  };
}
