import { z } from 'zod';
import { type Io, UsageError } from './command.ts';
import { type ConnectionOptions, connectTo } from './connection.ts';

/** Where a command reads: the same views, from the host's API or made from the store itself. */
export interface Source {
  list(path: string): Promise<unknown[]>;
  /** Undefined: there is none. */
  one(path: string, name: string): Promise<unknown | undefined>;
  close(): Promise<void>;
}

export interface SourceOptions extends ConnectionOptions {
  readonly store?: string | undefined;
  readonly kubeconfig?: string | undefined;
}

export const sourceFlags = {
  server: { type: 'string' },
  'token-file': { type: 'string' },
  store: { type: 'string' },
  kubeconfig: { type: 'string' },
} as const;

export const sourceUsage = `
      --server URL       the host that is asked; default: $BAMEL_URL, then port 8080 here
      --token-file FILE  the host's token; default: $BAMEL_TOKEN_FILE
      --store URL        work on the store itself; default: $BAMEL_STORE where no host is named
      --kubeconfig FILE  with --store, to see the cluster's pods as well; default: $KUBECONFIG`;

/** Undefined: the host is asked. */
export function storeOf({ server, store }: SourceOptions, { env }: Io): string | undefined {
  if (server !== undefined && store !== undefined)
    throw new UsageError('--server and --store: one or the other');
  if (store !== undefined || server !== undefined) return store;
  return env.BAMEL_URL ? undefined : env.BAMEL_STORE;
}

export const openSource = async (options: SourceOptions, io: Io): Promise<Source> => {
  const store = storeOf(options, io);
  return store === undefined
    ? openHost(options, io)
    : (await import('./stored-source.ts')).openStored(store, options.kubeconfig ?? io.env.KUBECONFIG);
};

const Page = z.object({ items: z.array(z.unknown()), next: z.number().optional() });

async function openHost(options: SourceOptions, io: Io): Promise<Source> {
  const host = await connectTo(options, io);
  return {
    async list(path) {
      const items: unknown[] = [];
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = Page.safeParse(await host.get(`${path}?limit=1000&after=${after}`));
        if (!page.success) throw new Error(`${host.url} is no host of bamel: ${path} has no items`);
        items.push(...page.data.items);
        after = page.data.next;
      }
      return items;
    },
    one: (path, name) => host.get(`${path}/${encodeURIComponent(name)}`),
    close: async () => undefined,
  };
}
