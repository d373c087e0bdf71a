import { stringify } from 'yaml';
import { serveDefinitions } from './custom-resources.ts';
import { serve } from './server.ts';
import { Store, type StoreOptions } from './store.ts';

export interface ApiOptions extends StoreOptions {
  /** 0 or nothing: a free one. */
  port?: number | undefined;
  /** When given, requests must carry it as a bearer token. */
  token?: string | undefined;
  /** How often watchers that asked for bookmarks get one. */
  bookmarkMs?: number | undefined;
  log?: ((message: string, fields: object) => void) | undefined;
}

export interface LabApi {
  readonly url: string;
  /** A kubeconfig for this server, as YAML. */
  kubeconfig(): string;
  /** The objects themselves, for controllers and replays in the same process. */
  readonly store: Store;
  close(): Promise<void>;
}

/** A Kubernetes API in memory, over plain HTTP on loopback. Controllers are started apart. */
export async function startApi(options: ApiOptions = {}): Promise<LabApi> {
  const { port = 0, token, bookmarkMs = 10_000, log = () => {} } = options;
  const store = new Store(options);
  const stopServingDefinitions = serveDefinitions(store);
  const server = await serve(store, { port, token, bookmarkMs, log });
  return {
    url: server.url,
    store,
    kubeconfig: () =>
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        // client-node speaks plain HTTP only with this.
        clusters: [{ name: 'lab', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'lab', user: token === undefined ? {} : { token } }],
        contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
        'current-context': 'lab',
      }),
    async close() {
      stopServingDefinitions();
      await server.close();
    },
  };
}
