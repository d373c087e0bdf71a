import type { Change } from '../api/history.ts';
import type { KubeObject, Pod } from '../api/objects.ts';

/** Which pods were given to which node, whether or not it exists. */
export class PodsByNode {
  readonly #byNode = new Map<string, Map<string, Pod>>();

  apply({ type, object }: TypedChange<Pod>): void {
    const { nodeName } = object.spec;
    if (!nodeName) return;
    const here = this.#byNode.get(nodeName) ?? new Map<string, Pod>();
    if (type === 'DELETED') here.delete(object.metadata.uid);
    else here.set(object.metadata.uid, object);
    if (here.size) this.#byNode.set(nodeName, here);
    else this.#byNode.delete(nodeName);
  }

  on(node: string): Pod[] {
    return [...(this.#byNode.get(node)?.values() ?? [])];
  }
}

export interface TypedChange<T extends KubeObject> extends Change {
  readonly object: T;
  readonly previous: T | undefined;
}
