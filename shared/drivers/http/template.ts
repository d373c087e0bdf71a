import type { Fail } from '../common/failure.ts';

/** What can be filled in, by the name people write between braces; undefined where the inventory does not say. */
export type Fields = Readonly<Record<string, string | undefined>>;

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;

/**
 * Fills in a text. Names only, no expressions; every value is escaped for the place it goes to. A name that is
 * unknown, or that the inventory says nothing about, is a mistake to mend.
 */
export function fill(text: string, fields: Fields, escaped: (value: string) => string, fail: Fail): string {
  const filled = text.replace(placeholder, (whole, name: string) => {
    if (!Object.hasOwn(fields, name))
      throw fail('config', `${whole} is not known; there are ${Object.keys(fields).join(', ')}`);
    const value = fields[name];
    if (value === undefined)
      throw fail('config', `${whole} is used, but the inventory does not say its ${name}`);
    return escaped(value);
  });
  if (/\{\{|\}\}/.test(text.replace(placeholder, '')))
    throw fail('config', `in ${JSON.stringify(text.slice(0, 80))} braces do not match`);
  return filled;
}

/** Fills in every text of a JSON value; what makes JSON of it does the escaping. */
export function fillJson(value: unknown, fields: Fields, fail: Fail): unknown {
  if (typeof value === 'string') return fill(value, fields, (text) => text, fail);
  if (Array.isArray(value)) return value.map((item) => fillJson(item, fields, fail));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillJson(item, fields, fail)]));
}

/** For a path or query: a value stays within its segment. */
export const inPath =
  (fail: Fail) =>
  (value: string): string => {
    if (value === '.' || value === '..')
      throw fail('config', `${JSON.stringify(value)} cannot be part of a path`);
    return encodeURIComponent(value);
  };

/** For a header: one line of visible characters. */
export const inHeader =
  (fail: Fail) =>
  (value: string): string => {
    if (/^[\x20-\x7e]*$/.test(value)) return value;
    throw fail('config', 'a value with a line break or a special character cannot be part of a header');
  };
