import type { Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** A request to discovery and its result. Contains no credentials. */
export interface AuditEntry {
  readonly at: number;
  readonly what: 'nonce' | 'exchange' | 'publish' | 'offer';
  /** The cluster ID, if known. */
  readonly who: string;
  /** The address of the caller, or the URL of the listing. */
  readonly from: string;
  readonly result: 'accepted' | (string & {});
  readonly why?: string | undefined;
}

export interface StoredAuditEntry extends AuditEntry {
  /** Repeated identical requests are one entry; `at` is the time of the last. */
  readonly times: number;
  readonly firstAt: number;
}

interface Book {
  readonly accepted: readonly StoredAuditEntry[];
  readonly refused: readonly StoredAuditEntry[];
}

/** Per kind, so that many refusals do not evict the accepted entries. */
const maxEntries = 100;
const maxTries = 10;

async function readBook(store: Store) {
  const entry = await store.get(keys.global('peering-audit'));
  const book: Book = entry ? decode<Book>(entry.key, entry.value) : { accepted: [], refused: [] };
  return { book, revision: entry?.revision ?? 0 };
}

/** Newest first. */
export async function readAudit(store: Store): Promise<StoredAuditEntry[]> {
  const { book } = await readBook(store);
  return [...book.accepted, ...book.refused].sort((a, b) => b.at - a.at);
}

export async function writeAudit(store: Store, entry: AuditEntry): Promise<void> {
  const key = keys.global('peering-audit');
  const kind = entry.result === 'accepted' ? 'accepted' : 'refused';
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const { book, revision } = await readBook(store);
    const before = book[kind].find((one) => isSame(one, entry));
    const now: StoredAuditEntry = {
      ...entry,
      times: (before?.times ?? 0) + 1,
      firstAt: before?.firstAt ?? entry.at,
    };
    const entries = [...book[kind].filter((one) => one !== before), now].slice(-maxEntries);
    const value = encode({ ...book, [kind]: entries });
    const { committed } = await store.commit([{ key, revision }], [{ put: key, value }]);
    if (committed) return;
  }
}

const isSame = (a: AuditEntry, b: AuditEntry): boolean =>
  a.what === b.what && a.who === b.who && a.from === b.from && a.result === b.result;
