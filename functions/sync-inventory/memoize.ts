import type { Resource } from '../../shared/ports/resources.ts';

/** A resource that has not changed is the same object in every round: what follows from it alone is found out once. */
export function memoize<Value>(find: (resource: Resource) => Value): (resource: Resource) => Value {
  const found = new WeakMap<Resource, { readonly value: Value }>();
  return (resource) => {
    const known = found.get(resource) ?? { value: find(resource) };
    found.set(resource, known);
    return known.value;
  };
}
