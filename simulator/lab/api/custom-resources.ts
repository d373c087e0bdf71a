import type { CustomResourceDefinition } from './objects.ts';
import { definitions, type ResourceType } from './resource-types.ts';
import type { Store } from './store.ts';

const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** One resource type per served version; all but the stored version are faces of it. */
function typesOf({ spec }: CustomResourceDefinition): ResourceType[] {
  const stored = spec.versions.find(({ storage }) => storage) ?? spec.versions[0];
  return spec.versions
    .filter(({ served }) => served)
    .map((version) => {
      const apiVersion = (name: string | undefined) => `${spec.group}/${name}`;
      return {
        group: spec.group,
        version: version.name,
        kind: spec.names.kind,
        plural: spec.names.plural,
        singular: spec.names.singular ?? spec.names.kind.toLowerCase(),
        namespaced: spec.scope === 'Namespaced',
        shortNames: spec.names.shortNames,
        categories: spec.names.categories,
        status: Boolean(version.subresources?.status),
        generation: true,
        needsVersion: true,
        custom: { schema: version.schema?.openAPIV3Schema, columns: version.additionalPrinterColumns ?? [] },
        alias:
          version === stored
            ? undefined
            : {
                of: { group: spec.group, plural: spec.names.plural },
                toStored: (object) => ({ ...object, apiVersion: apiVersion(stored?.name) }),
                fromStored: (object) => ({ ...object, apiVersion: apiVersion(version.name) }),
              },
      } satisfies ResourceType;
    });
}

function establish(store: Store, definition: CustomResourceDefinition): void {
  const lastTransitionTime = store.timestamp();
  const conditions = [
    {
      type: 'NamesAccepted',
      status: 'True',
      lastTransitionTime,
      reason: 'NoConflicts',
      message: 'no conflicts found',
    },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
  const { names, versions } = definition.spec;
  const accepted = { listKind: `${names.kind}List`, singular: names.kind.toLowerCase(), ...names };
  const storedVersions = versions.filter(({ storage }) => storage).map(({ name }) => name);
  store.modify(definitions, definition, (current) => ({
    ...current,
    metadata: { ...current.metadata, finalizers: [cleanupFinalizer] },
  }));
  store.modify(
    definitions,
    definition,
    (current) => ({ ...current, status: { conditions, acceptedNames: accepted, storedVersions } }),
    'status',
  );
}

/** Deletes what is left of a resource; true once nothing is. */
function emptied(store: Store, type: ResourceType): boolean {
  for (const { metadata } of [...store.list(type)])
    if (!metadata.deletionTimestamp) store.delete(type, metadata.namespace, metadata.name);
  return store.list(type).next().done === true;
}

/** Serves what CustomResourceDefinitions define, from their creation until their last object is gone. */
export function serveDefinitions(store: Store): () => void {
  const finish = (definition: CustomResourceDefinition) => {
    const [type] = typesOf(definition);
    if (!definition.metadata.deletionTimestamp || (type && !emptied(store, type))) return;
    store.modify(definitions, definition, (current) => ({
      ...current,
      metadata: { ...current.metadata, finalizers: [] },
    }));
  };
  return store.subscribe(({ type, resource, object, previous }) => {
    if (resource.custom && type === 'DELETED') {
      const owner = store.get(definitions, undefined, `${resource.plural}.${resource.group}`);
      if (owner) finish(owner);
    }
    if (resource !== definitions) return;
    const definition = object as CustomResourceDefinition;
    for (const one of previous ? typesOf(previous as CustomResourceDefinition) : []) store.types.remove(one);
    if (type === 'DELETED') return;
    for (const one of typesOf(definition)) store.types.add(one);
    if (type === 'ADDED') establish(store, definition);
    finish(definition);
  });
}
