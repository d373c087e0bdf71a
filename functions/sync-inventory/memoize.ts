import type { Resource } from '../../shared/ports/resources.ts';

/** Memoizes by object identity: an unchanged resource is the same object in every sync. */
export function memoize<Value>(find: (resource: Resource) => Value): (resource: Resource) => Value {
  const found = new WeakMap<Resource, { readonly value: Value }>();
  return (resource) => {
    const known = found.get(resource) ?? { value: find(resource) };
    found.set(resource, known);
    return known.value;
  };
}
