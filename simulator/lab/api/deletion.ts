import type { KubeObject, Namespace, Pod } from './objects.ts';
import type { ResourceType } from './resource-types.ts';
import { conflict } from './status-error.ts';

export interface DeleteOptions {
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: string | undefined;
  orphanDependents?: boolean | undefined;
  /** ['All']: only say what would happen. */
  dryRun?: string[] | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
}

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

const isPod = ({ kind, group }: ResourceType) => kind === 'Pod' && group === '';
const isNamespace = (object: KubeObject): object is Namespace =>
  object.kind === 'Namespace' && object.apiVersion === 'v1';

function graceOf(type: ResourceType, object: KubeObject, asked: number | undefined): number {
  if (!isPod(type)) return 0;
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

/** How long a pod may still run. A second delete may shorten that, never lengthen it. */
function graceLeft(type: ResourceType, object: KubeObject, asked: number | undefined): number {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0 } = object.metadata;
  if (!deletionTimestamp) return graceOf(type, object, asked);
  return Math.min(before, asked ?? before);
}

/** What a delete makes of an object: how it is marked as being deleted, and whether it is gone with that. */
export function deletionOf<T extends KubeObject>(
  type: ResourceType<T>,
  object: T,
  options: DeleteOptions,
  now: number,
): { marked: T; gone: boolean } {
  checkPreconditions(type, object, options);
  const finalizers = finalizersFor(type, object, options);
  const before = object.metadata;
  const grace = graceLeft(type, object, options.gracePeriodSeconds);
  const held = isNamespace(object) && Boolean(object.spec.finalizers?.length);
  const gone = !finalizers.length && grace === 0 && !held;
  // Only pods are marked on their way out when nothing holds them: so the real server does.
  if (gone && !isPod(type)) return { marked: object, gone };
  const unchanged = before.deletionTimestamp && grace === (before.deletionGracePeriodSeconds ?? 0);
  const at = new Date(Math.floor(now / 1000 + grace) * 1000).toISOString().replace('.000Z', 'Z');
  const marked = {
    ...object,
    ...(held ? { status: { phase: 'Terminating' } } : {}),
    metadata: {
      ...before,
      finalizers: finalizers.length ? finalizers : undefined,
      deletionTimestamp: unchanged ? before.deletionTimestamp : at,
      deletionGracePeriodSeconds: grace,
      generation: before.generation && !before.deletionTimestamp ? before.generation + 1 : before.generation,
    },
  };
  return { marked, gone };
}
