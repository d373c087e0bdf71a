import { type AlertBook, emptyBook, noteAlerts } from '../core/decide/signals/alert-book.ts';
import type { Alert } from '../core/decide/signals/alerts.ts';
import { type Store, StoreError } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

export type PoolOfAlert = (alert: Alert) => string | undefined;

const key = keys.global('alerts');
const maxTries = 10;

async function read(store: Store): Promise<{ readonly book: AlertBook; readonly revision: number }> {
  const entry = await store.get(key);
  return entry
    ? { book: decode<AlertBook>(key, entry.value), revision: entry.revision }
    : { book: emptyBook, revision: 0 };
}

/** The alert book in the store, shared by all processes and kept across restarts. */
export const readAlerts = async (store: Store): Promise<AlertBook> => (await read(store)).book;

/**
 * Records alerts and returns how many of them fire and are new. When several processes receive the same
 * alert, one of them counts it as new.
 */
export async function recordAlerts(
  store: Store,
  alerts: readonly Alert[],
  poolOf: PoolOfAlert,
  now: number,
): Promise<number> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const { book, revision } = await read(store);
    const noted = noteAlerts(book, alerts, poolOf, now);
    if (noted.book === book) return noted.fresh;
    const { committed } = await store.commit([{ key, revision }], [{ put: key, value: encode(noted.book) }]);
    if (committed) return noted.fresh;
  }
  throw new StoreError('unavailable', 'the alert book changed concurrently on every try');
}
