import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigInput } from '../../shared/schema/config.ts';
import type { MachineView } from '../../shared/view/shapes.ts';
import { labConfig, labTimings } from '../../simulator/lab/config.ts';
import { type CertificateAuthority, makeAuthority } from '../real-stack/certificates.ts';
import { type LiqoWorld, startLiqoWorld } from '../real-stack/liqo/liqo.ts';
import { handsOn, offload, whatIsBorrowed } from '../real-stack/liqo/liqo-by-hand.ts';
import { freePorts } from '../real-stack/ports.ts';
import { makeWorkspace } from '../real-stack/process.ts';
import {
  type HostFiles,
  type HostOptions,
  type HostProcess,
  startHostProcess,
  writeHostFiles,
} from '../support/host-process.ts';
import { type Workloads, workloadsOf } from './workload.ts';

/** Eight cores each; an hour of one costs twice as much in the south. */
const prices = { north: 0.1, south: 0.2 } as const;
export type ProviderName = keyof typeof prices;
const providerNames = Object.keys(prices) as ProviderName[];

type Pools = NonNullable<ConfigInput['pools']>;

/** A pool that lives on what others lend. */
export const lentPool = (more: Partial<Pools[number]> = {}): Pools[number] => ({
  name: 'lent',
  scaleDown: { unneededFor: '1s', drainTimeout: '60s' },
  provisionTimeout: '60s',
  ...more,
});

export interface RemoteWorld extends LiqoWorld {
  readonly authority: CertificateAuthority;
  /** A namespace of its own whose pods may go abroad. */
  peopleOf(namespace: string): Promise<Workloads>;
  /** The consumer, with a store of its own for each name. */
  borrow(name: string, pools: Pools): Promise<Borrower>;
  /** Everything that is lent, on all sides. */
  borrowed(): Promise<string[]>;
  /** Names of the slices that we have asked a provider for. */
  slices(provider: ProviderName): Promise<string[]>;
  /** All that the hosts of the lenders have said. */
  said(): string[];
  /** What none of our processes may ever show. */
  secrets(): Promise<string[]>;
}

interface Borrower {
  readonly files: HostFiles;
  readonly store: string;
  /** All that its hosts have said. */
  said(): string[];
  start(options?: HostOptions): Promise<HostProcess>;
  machines(host: HostProcess): Promise<MachineView[]>;
  /** Ids of the offers that it knows. */
  offers(host: HostProcess): Promise<string[]>;
  close(): Promise<void>;
}

/** Real clusters, and on each of them the host: two that lend, each with discovery of its own over HTTPS. */
export async function startRemoteWorld(): Promise<RemoteWorld> {
  await using cleanup = new AsyncDisposableStack();
  const workspace = makeWorkspace('remote');
  cleanup.defer(() => workspace.remove());
  const authority = makeAuthority(workspace.folder);
  const world = await startLiqoWorld();
  cleanup.defer(() => world.close());
  const ours = handsOn(world.consumer.plane.kubeConfig);
  const keys = await ours.read('v1', 'Secret', 'liqo', 'authentication-keys');
  const liqoKey = Buffer.from(keys?.data?.privateKey ?? '', 'base64').toString();

  const lenders = await Promise.all(
    providerNames.map((id) => lend(world, id, authority, rawPublic(createPublicKey(liqoKey)))),
  );
  for (const { close } of lenders) cleanup.defer(close);
  const owned = cleanup.move();
  return {
    ...world,
    authority,
    async peopleOf(namespace) {
      const people = workloadsOf(world.consumer.plane.kubeConfig.exportConfig(), namespace);
      await people.createNamespace();
      await offload(world.consumer, namespace);
      return people;
    },
    async borrow(name, pools) {
      const borrower = await borrowing(world, name, pools, authority, lenders);
      owned.defer(() => borrower.close());
      return borrower;
    },
    borrowed: async () =>
      (
        await Promise.all([world.north, world.south].map((one) => whatIsBorrowed(world.consumer, one)))
      ).flat(),
    slices: (provider) =>
      ours.names('authentication.liqo.io/v1beta1', 'ResourceSlice', `liqo-tenant-${provider}`),
    said: () => lenders.flatMap(({ said }) => said()),
    async secrets() {
      const lines = liqoKey.split('\n').filter((line) => line && !line.startsWith('-'));
      const identities = await Promise.all(
        providerNames.map((id) =>
          ours.read('authentication.liqo.io/v1beta1', 'Identity', `liqo-tenant-${id}`, `controlplane-${id}`),
        ),
      );
      const certificates = identities.flatMap((identity) => {
        const { signedCRT } = (identity?.spec?.authParams ?? {}) as { signedCRT?: string };
        return signedCRT ? [signedCRT] : [];
      });
      return [...lines, ...certificates, ...lenders.map(({ secret }) => secret)];
    },
    close: () => owned.disposeAsync(),
  };
}

const rawPublic = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');

interface Lender {
  readonly id: ProviderName;
  readonly url: string;
  readonly publicKey: string;
  /** A line of its signing key. */
  readonly secret: string;
  said(): readonly string[];
  close(): Promise<void>;
}

async function lend(
  world: LiqoWorld,
  id: ProviderName,
  authority: CertificateAuthority,
  peerKey: string,
): Promise<Lender> {
  const [port = 0] = await freePorts(1);
  const url = `https://127.0.0.1:${port}/discovery`;
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const files = await writeHostFiles(
    labConfig([], {
      pools: [],
      autoscaler: {
        remote: {
          clusterID: id,
          endpoint: url,
          signingKey: 'signing',
          openListing: true,
          offers: [
            { name: 'spare', resources: { cpu: 8, memory: '32Gi', pods: 50 }, price: { cpu: prices[id] } },
          ],
          peers: [{ clusterID: 'home', publicKey: peerKey }],
          refreshEvery: '5s',
        },
      },
    }),
    world[id].plane.kubeConfig.exportConfig(),
    [],
  );
  await mkdir(join(files.credentials, 'signing'), { recursive: true });
  await writeFile(join(files.credentials, 'signing', 'privateKey'), pem, { mode: 0o600 });
  const { cert, key } = authority.issueServer(`bamel-${id}`);
  const host = await startHostProcess(files, 'embedded:', {
    args: ['--port', String(port), '--tls-cert', cert, '--tls-key', key],
  });
  if (!host.url) throw new Error(`the host of ${id} ended:\n${host.lines.join('\n')}`);
  return {
    id,
    url,
    publicKey: rawPublic(publicKey),
    secret: pem.split('\n')[1] ?? '',
    said: () => host.lines,
    async close() {
      host.kill('SIGKILL');
      await host.ended;
      await files.remove();
    },
  };
}

async function itemsOf<Item>(url: string): Promise<Item[]> {
  const answer = await fetch(url);
  return ((await answer.json()) as { items: Item[] }).items;
}

async function borrowing(
  world: LiqoWorld,
  name: string,
  pools: Pools,
  authority: CertificateAuthority,
  lenders: readonly Lender[],
): Promise<Borrower> {
  const tls = { caFile: authority.cert };
  const files = await writeHostFiles(
    labConfig([], {
      pools: pools.map((pool) => ({
        ...pool,
        template: {
          provider: 'liqo',
          options: { tls },
          maxSize: { cpu: 8, memory: '32Gi' },
          memoryOverhead: 0,
          ...pool.template,
        },
      })),
      autoscaler: {
        // Real clusters sign certificates in their own time.
        timings: { ...labTimings, bmcTimeout: '10s' },
        thresholds: { for: '1s' },
        scaleDown: { requireProvenCycle: false, weighBoot: false },
        cooldowns: { afterFailure: '0s' },
        remote: {
          clusterID: 'home',
          trust: lenders.map(({ id, publicKey }) => ({ clusterID: id, publicKey })),
          sources: lenders.map(({ url }) => ({ url, tls })),
          refreshEvery: '5s',
        },
      },
    }),
    world.consumer.plane.kubeConfig.exportConfig(),
    [],
  );
  const store = `embedded:${join(files.folder, `${name}.db`)}`;
  const hosts: HostProcess[] = [];
  return {
    files,
    store,
    said: () => hosts.flatMap(({ lines }) => lines),
    async start(options = {}) {
      const host = await startHostProcess(files, store, options);
      hosts.push(host);
      return host;
    },
    machines: ({ url }) => itemsOf(`${url}/api/machines`),
    offers: async ({ url }) => (await itemsOf<{ id: string }>(`${url}/api/offers`)).map(({ id }) => id),
    async close() {
      for (const host of hosts) host.kill('SIGKILL');
      await Promise.all(hosts.map(({ ended }) => ended));
      await files.remove();
    },
  };
}
