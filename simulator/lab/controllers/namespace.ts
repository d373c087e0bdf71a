import { namespaces } from '../api/resource-types.ts';
import type { Context } from './context.ts';

/** Empties a namespace that is being deleted, then lets it go. */
export function namespaceController({ store, work, on, onAny }: Context): void {
  const finish = (name: string) => {
    const space = store.get(namespaces, undefined, name);
    if (!space?.metadata.deletionTimestamp) return;
    let left = 0;
    for (const type of [...store.types.all()].filter(({ namespaced, alias }) => namespaced && !alias))
      for (const { metadata } of [...store.list(type, name)]) {
        const { gone } = metadata.deletionTimestamp
          ? { gone: false }
          : store.delete(type, name, metadata.name, { propagationPolicy: 'Background' });
        if (!gone) left++;
      }
    if (left === 0) store.modify(namespaces, space, (current) => ({ ...current, spec: { finalizers: [] } }));
  };
  on(namespaces, ({ object }) => {
    const { name, deletionTimestamp } = object.metadata;
    if (deletionTimestamp) work.add(`namespaces/${name}`, () => finish(name));
  });
  onAny(({ type, object }) => {
    const { namespace } = object.metadata;
    if (
      type === 'DELETED' &&
      namespace &&
      store.get(namespaces, undefined, namespace)?.metadata.deletionTimestamp
    )
      work.add(`namespaces/${namespace}`, () => finish(namespace));
  });
}
