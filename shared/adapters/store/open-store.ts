import { type Store, StoreError } from '../../ports/store.ts';
import { parseEtcdUrl } from '../etcd/url.ts';
import { EmbeddedStore } from '../sqlite/store.ts';

export interface StoreOptions {
  /** Only get and list; an embedded file can then be opened beside the process that owns it. */
  readonly readOnly?: boolean;
  /** Embedded files only. False: the last commits may be forgotten when the power goes. Default true. */
  readonly durable?: boolean;
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
    // Loaded when used: gRPC takes 100 ms of a start.
    const [{ EtcdStore }, { EtcdClient }] = await Promise.all([
      import('../etcd/store.ts'),
      import('../etcd/client.ts'),
    ]);
    return new EtcdStore(new EtcdClient(address), address.hosts.length);
  }
  throw new StoreError(
    'refused',
    `BAMEL_STORE=${JSON.stringify(url)} is no store. Use embedded: (in memory), embedded:path/to/file, or etcd://host:2379,host:2379`,
  );
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
