/** What stands at the first of these JSON pointers (RFC 6901) that is there; undefined where none is. */
export function firstAt(document: unknown, pointers: readonly string[]): unknown {
  for (const pointer of pointers) {
    const found = at(document, pointer);
    if (found !== undefined) return found;
  }
  return undefined;
}

function at(document: unknown, pointer: string): unknown {
  let here = document;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}
