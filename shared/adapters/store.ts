import { type Store, StoreError } from '../ports.ts';
import { EmbeddedStore } from './store-embedded.ts';
import type { EtcdCalls } from './store-etcd-calls.ts';
import { type EtcdAddress, parseEtcdUrl } from './store-etcd-url.ts';

export interface StoreOptions {
  /** Only get and list; an embedded file can then be opened beside the process that owns it. */
  readonly readOnly?: boolean;
  /** Embedded files only. False: the last commits may be forgotten when the power goes. Default true. */
  readonly durable?: boolean;
  /** etcd only: for a process that is started to answer one event. What it needs for that costs little to load. */
  readonly quick?: boolean;
}

/** Opens the store that BAMEL_STORE names. */
export async function openStore(url: string, options: StoreOptions = {}): Promise<Store> {
  const store = await open(url, options);
  return options.readOnly ? readOnly(store) : store;
}

async function open(url: string, options: StoreOptions): Promise<Store> {
  if (url.startsWith('embedded:'))
    return new EmbeddedStore(url.slice('embedded:'.length) || undefined, options);
  if (/^etcds?:/.test(url)) {
    const address = parseEtcdUrl(url);
    const { EtcdStore } = await import('./store-etcd.ts');
    return new EtcdStore(await callsOf(address, options), address.hosts.length);
  }
  throw new StoreError(
    'refused',
    `BAMEL_STORE=${JSON.stringify(url)} is no store. Use embedded: (in memory), embedded:path/to/file, or etcd://host:2379,host:2379`,
  );
}

/** Loaded only when used: gRPC takes a good part of a cold start. */
async function callsOf(address: EtcdAddress, { quick }: StoreOptions): Promise<EtcdCalls> {
  const grpc = async () => new (await import('./store-etcd-client.ts')).EtcdClient(address);
  // Tokens have to be renewed, which etcd3 does; and finding out whether a password is right takes etcd longer.
  if (!quick || address.auth) return grpc();
  const { quickCalls } = await import('./store-etcd-quick.ts');
  return quickCalls(address, grpc);
}

function readOnly(store: Store): Store {
  const refuse = async () => {
    throw new StoreError('refused', 'the store was opened to read only');
  };
  return {
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    close: () => store.close(),
    commit: refuse,
    watch: refuse,
    acquire: refuse,
  };
}
