import type { Change } from '../api/history.ts';
import type { KubeObject } from '../api/objects.ts';
import type { ResourceType } from '../api/resource-types.ts';

interface Dependent {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** Which objects name which owner. */
export class Dependents {
  readonly #byOwner = new Map<string, Map<string, Dependent>>();

  apply({ type, resource, object, previous }: Change): void {
    const owners = object.metadata.ownerReferences;
    const before = previous?.metadata.ownerReferences;
    if (!owners?.length && !before?.length) return;
    const { uid } = object.metadata;
    for (const owner of before ?? []) {
      const children = this.#byOwner.get(owner.uid);
      children?.delete(uid);
      if (children?.size === 0) this.#byOwner.delete(owner.uid);
    }
    if (type === 'DELETED') return;
    for (const owner of owners ?? []) {
      const children = this.#byOwner.get(owner.uid) ?? new Map<string, Dependent>();
      this.#byOwner.set(owner.uid, children.set(uid, { type: resource, object }));
    }
  }

  of(uid: string): Iterable<Dependent> {
    return this.#byOwner.get(uid)?.values() ?? [];
  }

  /** Those of one type that `uid` controls. */
  controlled<T extends KubeObject>(type: ResourceType<T>, uid: string): T[] {
    const found: T[] = [];
    for (const dependent of this.of(uid)) {
      if (dependent.type.plural !== type.plural || dependent.type.group !== type.group) continue;
      const controller = dependent.object.metadata.ownerReferences?.find((owner) => owner.controller);
      if (controller?.uid === uid) found.push(dependent.object as T);
    }
    return found;
  }
}
