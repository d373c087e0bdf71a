/** The format version of every value in the store. A change that raises it must still read older values. */
const version = 1;

/** A value for the store: JSON with its version first. */
export const encode = (value: object): string => JSON.stringify({ v: version, ...value });

/** Decodes a value from the store. Errors name the key. */
export function decode<Value>(key: string, text: string): Value {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${key} in the store is not JSON: restore it from a backup, or delete it`, { cause });
  }
  const { v, ...value } = (parsed ?? {}) as { v?: unknown };
  if (v !== version)
    throw new Error(`${key} in the store has format ${String(v)}, this version reads ${version}: upgrade it`);
  return value as Value;
}
