/**
 * What was just read, with every part that is as it was before being the very same object: whoever draws it can tell
 * by looking at the reference.
 */
export function share(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after))
    return Object.is(before, after) ? before : after;
  const keys = Object.keys(after);
  let same = keys.length === Object.keys(before).length;
  for (const key of keys) {
    const shared = share(before[key], after[key]);
    after[key] = shared;
    same &&= key in before && shared === before[key];
  }
  return same ? before : after;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
