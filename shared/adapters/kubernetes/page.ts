/** A page of a list. */
export interface Page<Item> {
  readonly items: Iterable<Item>;
  readonly metadata?: { readonly resourceVersion?: string; readonly _continue?: string | undefined };
}

const beforeItems = ',"items":[';
/** How items begin, as the API server writes them. */
const start = '{"metadata":{';
const between = `},${start}`;

/**
 * Reads a page item by item: what one leaves behind is gone before the next is read, where ten thousands of pods, a
 * whole page of them at a time, would make the process grow for good. Nothing is taken for granted of the text: from
 * what does not parse as an item on, the rest is read at once.
 */
export function parsePage<Item>(text: string): Page<Item> {
  const at = text.indexOf(beforeItems);
  const from = at + beforeItems.length;
  const end = text.lastIndexOf(']');
  const isUsual = at !== -1 && text.startsWith(start, from) && text.slice(end + 1).trim() === '}';
  const head = isUsual ? tryParse(`${text.slice(0, at)}}`) : undefined;
  const { metadata, items } = (head ?? JSON.parse(text)) as {
    readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
    readonly items: readonly Item[];
  };
  return {
    items: head ? itemsOf<Item>(text, from, end) : items,
    // As the typed API calls it.
    metadata: { ...metadata, ...(metadata.continue && { _continue: metadata.continue }) },
  };
}

function* itemsOf<Item>(text: string, first: number, end: number): Generator<Item> {
  for (let from = first; from < end; ) {
    const next = text.indexOf(between, from);
    const to = next === -1 || next >= end ? end : next + 1;
    const item = parseItem(text.slice(from, to));
    if (item === undefined) return yield* JSON.parse(`[${text.slice(from, end)}]`);
    yield item as Item;
    from = to + 1;
  }
}

/** managedFields are up to half of an object, come last in its metadata, and are not used here. */
const bookkeeping = ',"managedFields":[';
const afterBookkeeping = '}]},"spec":';

function parseItem(text: string): unknown {
  const at = text.indexOf(bookkeeping);
  const end = at === -1 ? -1 : text.indexOf(afterBookkeeping, at);
  const short = end === -1 ? undefined : tryParse(text.slice(0, at) + text.slice(end + 2));
  return short ?? tryParse(text);
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Incomplete: the caller reads on.
    return undefined;
  }
}
