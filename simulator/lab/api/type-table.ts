import type { ResourceType } from './resource-types.ts';

const pathOf = ({ group, version, plural }: Pick<ResourceType, 'group' | 'version' | 'plural'>) =>
  `${group}/${version}/${plural}`;

/** Which resources are served: the built-in ones and those of the CustomResourceDefinitions. */
export class TypeTable {
  readonly #byPath = new Map<string, ResourceType>();

  constructor(types: readonly ResourceType[]) {
    for (const type of types) this.add(type);
  }

  add(type: ResourceType): void {
    this.#byPath.set(pathOf(type), type);
  }

  remove(type: ResourceType): void {
    this.#byPath.delete(pathOf(type));
  }

  at(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#byPath.get(pathOf({ group, version, plural }));
  }

  /** The type whose objects are stored: an alias leads to it. */
  stored(type: ResourceType): ResourceType {
    if (!type.alias) return type;
    const { group, plural } = type.alias.of;
    return [...this.all()].find((one) => one.group === group && one.plural === plural && !one.alias) ?? type;
  }

  all(): Iterable<ResourceType> {
    return this.#byPath.values();
  }

  byKind(apiVersion: string, kind: string): ResourceType | undefined {
    for (const type of this.all())
      if (type.kind === kind && apiVersion === (type.group ? `${type.group}/${type.version}` : type.version))
        return type;
    return undefined;
  }
}
