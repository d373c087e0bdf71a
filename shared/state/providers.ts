import type { ProviderProblem, ProviderState } from '../core/limits/provider-state.ts';
import type { Entry, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys, splitKey } from './keys.ts';

/** As stored with the pool. */
export interface StoredProvider {
  /** The revision of the pool's description that passed the check. */
  readonly checked?: number | undefined;
  readonly problem?: (ProviderProblem & { readonly config: number }) | undefined;
}

export interface ProviderRecord extends ProviderState {
  readonly stored: StoredProvider;
  /** Of the stored state; 0: none. */
  readonly revision: number;
  /** Of the pool's description. */
  readonly config: number;
}

/** The state of the provider of every pool; of the pools that make no machines it says nothing. */
export async function readProviders(store: Store, pool?: string): Promise<ProviderRecord[]> {
  const { entries } = await store.list(pool === undefined ? keys.pools : `${keys.pools}${pool}/`);
  return providersIn(entries);
}

export function providersIn(entries: Iterable<Entry>): ProviderRecord[] {
  const parts = new Map<string, Map<string, Entry>>();
  for (const entry of entries) {
    const { id, part } = splitKey(entry.key, keys.pools);
    parts.set(id, (parts.get(id) ?? new Map<string, Entry>()).set(part, entry));
  }
  return [...parts].flatMap(([pool, of]): ProviderRecord[] => {
    const config = of.get('config')?.revision;
    if (config === undefined) return [];
    const entry = of.get('provider');
    const stored = entry ? decode<StoredProvider>(entry.key, entry.value) : {};
    const { problem } = stored;
    return [
      {
        pool,
        checked: stored.checked === config,
        // A problem of another description is no problem of this one.
        ...(problem?.config === config && { problem }),
        stored,
        revision: entry?.revision ?? 0,
        config,
      },
    ];
  });
}

/** False: another process wrote first. */
export async function writeProvider(
  store: Store,
  { pool, revision }: Pick<ProviderRecord, 'pool' | 'revision'>,
  stored: StoredProvider,
): Promise<boolean> {
  const key = keys.pool(pool, 'provider');
  const { committed } = await store.commit([{ key, revision }], [{ put: key, value: encode(stored) }]);
  return committed;
}

/** The message of a provider that refused the credentials of all its machines, while it is left alone. */
export async function refusedByProvider(
  store: Store,
  pool: string,
  now: number,
): Promise<string | undefined> {
  const [record] = await readProviders(store, pool);
  const { problem, checked } = record ?? {};
  return problem?.code === 'auth' && !checked && problem.until > now ? problem.message : undefined;
}
