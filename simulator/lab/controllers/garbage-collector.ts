import { foregroundFinalizer, orphanFinalizer } from '../api/deletion.ts';
import type { KubeObject } from '../api/objects.ts';
import type { ResourceType } from '../api/resource-types.ts';
import type { Context } from './context.ts';

const without = (object: KubeObject, finalizer: string): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    finalizers: object.metadata.finalizers?.filter((one) => one !== finalizer),
  },
});

/** Deletes what its owners have left behind, in the way the deletion of the owner asked for. */
export function garbageCollector({ store, dependents, work, onAny }: Context): void {
  const collect = (type: ResourceType, uid: string, propagationPolicy: string) => {
    const object = store.byUid(uid);
    const { ownerReferences: owners, deletionTimestamp, namespace, name } = object?.metadata ?? {};
    if (!owners?.length || name === undefined) return;
    const left = owners.filter((owner) => {
      const there = store.byUid(owner.uid);
      return there && !there.metadata.finalizers?.includes(foregroundFinalizer);
    });
    if (!left.length && !deletionTimestamp) store.delete(type, namespace, name, { propagationPolicy });
  };

  const orphan = (type: ResourceType, owner: KubeObject) => {
    for (const child of [...dependents.of(owner.metadata.uid)])
      store.modify(child.type, child.object, (current) => ({
        ...current,
        metadata: {
          ...current.metadata,
          ownerReferences: current.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid),
        },
      }));
    store.modify(type, owner, (current) => without(current, orphanFinalizer));
  };

  const foreground = (type: ResourceType, owner: KubeObject) => {
    const children = [...dependents.of(owner.metadata.uid)];
    const blocking = children.filter(({ object }) =>
      object.metadata.ownerReferences?.some(
        (one) => one.uid === owner.metadata.uid && one.blockOwnerDeletion,
      ),
    );
    for (const child of children) collect(child.type, child.object.metadata.uid, 'Foreground');
    if (!blocking.length) store.modify(type, owner, (current) => without(current, foregroundFinalizer));
  };

  onAny(({ type, resource, object, previous }) => {
    const { uid, ownerReferences, deletionTimestamp, finalizers } = object.metadata;
    if (type === 'DELETED') {
      work.add(`gc/${uid}`, () => {
        for (const child of [...dependents.of(uid)])
          collect(child.type, child.object.metadata.uid, 'Background');
      });
      for (const owner of previous?.metadata.ownerReferences ?? []) {
        const there = store.byUid(owner.uid);
        if (there?.metadata.finalizers?.includes(foregroundFinalizer))
          work.add(`gc/foreground/${owner.uid}`, () => {
            const ownerType = store.types.byKind(there.apiVersion, there.kind);
            const current = store.byUid(owner.uid);
            if (ownerType && current) foreground(ownerType, current);
          });
      }
      return;
    }
    // A child that comes after its owner has gone.
    if (ownerReferences?.some((owner) => !store.byUid(owner.uid)))
      work.add(`gc/child/${uid}`, () => collect(resource, uid, 'Background'));
    if (!deletionTimestamp) return;
    const step = finalizers?.includes(orphanFinalizer)
      ? orphan
      : finalizers?.includes(foregroundFinalizer)
        ? foreground
        : undefined;
    if (step)
      work.add(`gc/step/${uid}`, () => {
        const current = store.byUid(uid);
        if (current) step(resource, current);
      });
  });
}
