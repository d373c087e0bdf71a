const texts = new WeakMap<object, string>();

/** An object's JSON, made once: objects in the store never change, however many watchers are told of them. */
export function jsonOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Equal as JSON: a field that is undefined is not there. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  for (const key of Object.keys(a)) if (!sameJson(Reflect.get(a, key), Reflect.get(b, key))) return false;
  return Object.keys(b).every(
    (key) => Reflect.get(b, key) === undefined || Reflect.get(a, key) !== undefined,
  );
}

/** Go's decoder takes null for "not given"; so do we. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field)]),
  );
}
