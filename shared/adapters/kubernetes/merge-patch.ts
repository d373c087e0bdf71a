import type { Json } from '../../ports/resources.ts';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The merge patch (RFC 7386) that makes `after` of `before`; undefined when they are the same. */
export function mergePatchOf(before: Json, after: Json): Json | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (after[key] === undefined) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (value === undefined || same(old, value)) continue;
    patch[key] = isObject(old) && isObject(value) ? mergePatchOf(old, value) : value;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Whether they say the same, in whatever order of fields. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const given = (value: Json): string[] => Object.keys(value).filter((key) => value[key] !== undefined);
  return given(a).length === given(b).length && given(a).every((key) => same(a[key], b[key]));
}
