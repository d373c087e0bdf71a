import { z } from 'zod';
import { sameJson } from './json.ts';
import { badRequest, StatusError } from './status-error.ts';

const JsonPatch = z.array(
  z.object({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: z.string(),
    from: z.string().optional(),
    value: z.unknown().optional(),
  }),
);

type Container = Record<string, unknown> | unknown[];

const impossible = (why: string) =>
  new StatusError(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: ${why}`,
    {},
  );

const partsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

function readAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of partsOf(pointer)) {
    if (!isContainer(value)) return undefined;
    value = Array.isArray(value) ? value[Number(part)] : Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

/** The container that holds what `pointer` names, and the key in it. */
function locate(document: unknown, pointer: string): { holder: Container; key: string } {
  const parts = partsOf(pointer);
  const key = parts.pop();
  const holder = readAt(
    document,
    parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
  );
  if (key === undefined || !isContainer(holder)) throw impossible(`there is nothing at ${pointer}`);
  return { holder, key };
}

function insert(document: unknown, pointer: string, value: unknown): void {
  const { holder, key } = locate(document, pointer);
  if (!Array.isArray(holder)) {
    Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const index = key === '-' ? holder.length : Number(key);
  if (!(index >= 0 && index <= holder.length))
    throw impossible(`index ${key} is outside of the list at ${pointer}`);
  holder.splice(index, 0, value);
}

function remove(document: unknown, pointer: string): unknown {
  const { holder, key } = locate(document, pointer);
  const value = readAt(document, pointer);
  if (value === undefined) throw impossible(`there is nothing to remove at ${pointer}`);
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
  return value;
}

/** RFC 6902 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const operations = JsonPatch.safeParse(patch);
  if (!operations.success)
    throw badRequest(`the JSON patch is malformed: ${z.prettifyError(operations.error)}`);
  const result = structuredClone(document);
  for (const { op, path, from = '', value } of operations.data) {
    if (op === 'test') {
      if (!sameJson(readAt(result, path), value)) throw impossible(`testing value ${path} failed`);
    } else if (op === 'remove') remove(result, path);
    else if (op === 'move') insert(result, path, remove(result, from));
    else if (op === 'copy') insert(result, path, structuredClone(readAt(result, from)));
    else {
      if (op === 'replace') remove(result, path);
      insert(result, path, value);
    }
  }
  return result;
}
