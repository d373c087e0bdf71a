import type { Clock } from '../../shared/ports/clock.ts';
import type { Entry, Store, StoreChange } from '../../shared/ports/store.ts';
import type { DecisionRecord } from '../core/decide/decision.ts';
import type { PoolSpec, Settings } from '../core/settings.ts';
import { PoolSpec as PoolSchema } from '../schema/pool.ts';
import { Settings as SettingsSchema } from '../schema/settings.ts';
import { decode } from '../state/codec.ts';
import type { StoredOperation } from '../state/inventory.ts';
import { keys, splitKey } from '../state/keys.ts';
import type { MachineRecord } from '../state/machine-record.ts';
import { createRecordReader, parseStored } from '../state/machine-record.ts';

/** The current store in memory, so that reads do not list it. */
export interface View {
  /** Of the last change that was seen. */
  readonly revision: number;
  machines(): readonly MachineRecord[];
  pools(): readonly PoolSpec[];
  operations(): readonly StoredOperation[];
  decisions(): readonly (DecisionRecord & { readonly id: string })[];
  settings(): Settings;
  /** A note for viewers. */
  caption(): string | undefined;
  /** Calls back with the kinds of objects that changed, until stopped. */
  onChange(listener: (kinds: ReadonlySet<Kind>) => void): () => void;
  close(): Promise<void>;
}

export type Kind = 'machines' | 'pools' | 'operations' | 'decisions' | 'about';

const prefixes: readonly (readonly [Kind, string])[] = [
  ['machines', keys.nodes],
  ['pools', keys.pools],
  ['operations', keys.operations],
  ['decisions', keys.decisions],
  ['about', keys.global('config')],
  ['about', keys.global('caption')],
];
const kindOf = (key: string): Kind | undefined => prefixes.find(([, prefix]) => key.startsWith(prefix))?.[0];

export async function openView(store: Store, clock: Clock): Promise<View> {
  const entries: Record<Kind, Map<string, Entry>> = {
    machines: new Map(),
    pools: new Map(),
    operations: new Map(),
    decisions: new Map(),
    about: new Map(),
  };
  const listeners = new Set<(kinds: ReadonlySet<Kind>) => void>();
  const made = new Map<Kind, readonly unknown[]>();
  let revision = 0;

  const take = (change: StoreChange): ReadonlySet<Kind> => {
    revision = change.revision;
    if (change.type === 'reset') {
      for (const [kind] of prefixes) entries[kind].clear();
      for (const entry of change.entries) {
        const kind = kindOf(entry.key);
        if (kind) entries[kind].set(entry.key, entry);
      }
      return new Set(prefixes.map(([kind]) => kind));
    }
    const kind = kindOf(change.type === 'put' ? change.entry.key : change.key);
    if (!kind) return new Set();
    if (change.type === 'put') entries[kind].set(change.entry.key, change.entry);
    else entries[kind].delete(change.key);
    return new Set([kind]);
  };
  const watch = await store.watch('/baremetal/', (change) => {
    const kinds = take(change);
    if (kinds.size === 0) return;
    for (const kind of kinds) made.delete(kind);
    for (const listener of listeners) listener(kinds);
  });

  const readRecords = createRecordReader(clock);
  /** Built on the first read and cached until a change. */
  const list = <Item>(kind: Kind, make: (sorted: readonly Entry[]) => readonly Item[]): readonly Item[] => {
    const before = made.get(kind);
    if (before) return before as readonly Item[];
    const items = make([...entries[kind].values()].sort((a, b) => (a.key < b.key ? -1 : 1)));
    made.set(kind, items);
    return items;
  };
  return {
    get revision() {
      return revision;
    },
    machines: () => list('machines', readRecords),
    pools: () =>
      list('pools', (sorted) =>
        sorted
          .filter(({ key }) => splitKey(key, keys.pools).part === 'config')
          .map(({ key, value }) => parseStored(PoolSchema, key, decode(key, value))),
      ),
    operations: () =>
      list('operations', (sorted) => sorted.map(({ key, value }) => decode<StoredOperation>(key, value))),
    decisions: () =>
      list('decisions', (sorted) =>
        sorted.map(({ key, value }) => ({
          id: key.slice(keys.decisions.length),
          ...decode<DecisionRecord>(key, value),
        })),
      ),
    settings() {
      const key = keys.global('config');
      const entry = entries.about.get(key);
      return parseStored(SettingsSchema, key, entry ? decode(key, entry.value) : {});
    },
    caption() {
      const key = keys.global('caption');
      const entry = entries.about.get(key);
      return entry && decode<{ text: string }>(key, entry.value).text;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => watch.close(),
  };
}
