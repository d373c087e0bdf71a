import type { KubeObject, KubeObjects } from '../../../shared/ports/kubernetes-objects.ts';
import { PowerError } from '../../../shared/ports/power.ts';
import { selection } from '../api/reads.ts';
import { targetOf } from '../api/request.ts';
import { StatusError } from '../api/status-error.ts';
import type { Store } from '../api/store.ts';
import { create, patch, remove } from '../api/writes.ts';

const mergePatch = 'application/merge-patch+json';

/** The objects of a lab's store behind the port that drivers know, without HTTP in between. */
export function objectsOf(store: Store): KubeObjects {
  const locate = (path: string) => {
    const target = targetOf(store.types, path);
    return { target, stored: store.types.stored(target.type) };
  };
  const find = (path: string) => {
    const { target, stored } = locate(path);
    return store.get(stored, target.namespace, target.name ?? '');
  };
  return {
    get: (path, signal) => answered(signal, () => copy(find(path))),
    list: (path, labelSelector, signal) =>
      answered(signal, () => {
        const { target, stored } = locate(path);
        const matches = selection(target, new URLSearchParams(labelSelector ? { labelSelector } : {}));
        return [...store.list(stored, target.namespace)].filter(matches).map(copy);
      }),
    ensure: (path, object, signal) =>
      answered(signal, () => copy(find(path) ?? create(store, locate(path).target, object).object)),
    patch: (path, change, signal) =>
      answered(signal, () =>
        copy(patch(store, locate(path).target, mergePatch, JSON.stringify(change)).object),
      ),
    remove: (path, signal) =>
      answered(signal, () => {
        if (!find(path)) return false;
        remove(store, locate(path).target, new URLSearchParams(), undefined);
        return true;
      }),
  };
}

/** As it would come over the wire: nobody can change what the store holds. */
const copy = <T>(object: T): KubeObject & T => JSON.parse(JSON.stringify(object ?? null)) ?? undefined;

async function answered<T>(signal: AbortSignal, work: () => T): Promise<T> {
  signal.throwIfAborted();
  try {
    return work();
  } catch (error) {
    if (error instanceof StatusError) throw new PowerError('refused', error.message);
    throw error;
  }
}
