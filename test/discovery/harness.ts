import { createPrivateKey } from 'node:crypto';
import type { Deps } from '../../functions/deps.ts';
import { functionTable } from '../../functions/index.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { certificateRequest } from '../../shared/crypto/csr.ts';
import { newSigningKey, signerOf } from '../../shared/crypto/ed25519.ts';
import { networkGuard } from '../../shared/http/network-guard.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KubeObjects } from '../../shared/ports/kubernetes-objects.ts';
import type { Credentials } from '../../shared/ports/power.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { type RunningServer, type ServeOptions, serve } from '../../shared/server/serve.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { memoryLog } from '../runtime/harness.ts';
import { type FakeLiqo, fakeLiqo } from './fake-liqo.ts';

export type RemoteInput = NonNullable<NonNullable<ConfigInput['autoscaler']>['remote']>;

/** A clock that goes on when somebody waits, and when it is told to: however slow the machine is. */
function quickClock(): Clock & { pass(ms: number): void; putBack(ms: number): void } {
  let now = realClock.now();
  let monotonic = realClock.monotonic();
  const pass = (ms: number): void => {
    now += ms;
    monotonic += ms;
  };
  return {
    now: () => now,
    monotonic: () => monotonic,
    async sleep(ms) {
      pass(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    pass,
    putBack(ms) {
      now -= ms;
    },
  };
}

export interface Site extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  readonly clock: ReturnType<typeof quickClock>;
  readonly liqo: FakeLiqo;
  readonly metrics: Metrics;
  readonly lines: Record<string, unknown>[];
  /** Kubernetes Events: reason and text. */
  readonly told: string[];
  set(remote: RemoteInput): Promise<void>;
  /** As POST /discovery by hand. */
  look(signal?: AbortSignal): Promise<Record<string, unknown>>;
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, never>; headers: Headers }>;
}

export interface SiteOptions {
  readonly remote?: RemoteInput;
  readonly credentials?: Readonly<Record<string, Credentials>>;
  readonly serve?: Partial<ServeOptions>;
  /** A cluster with Liqo, in which things take the time that they take. */
  readonly real?: KubeObjects;
}

/** A cluster with discovery, in this process. */
export async function startSite({
  remote = {},
  credentials = {},
  serve: where,
  real,
}: SiteOptions = {}): Promise<Site> {
  const store = await openStore('embedded:');
  const clock = real ? { ...quickClock(), ...realClock } : quickClock();
  const { log, lines } = memoryLog();
  const liqo = fakeLiqo();
  const metrics = createMetrics('discovery');
  const told: string[] = [];
  const deps = {
    inventory: createInventory(store, clock),
    cluster: {
      recordEvent: async (_about, _type, reason, text) => void told.push(`${reason} ${text}`),
    } as Deps['cluster'],
    objects: real ?? liqo.objects,
    resolve: networkGuard(['127.0.0.0/8']),
    credentials: async (name) => {
      const found = credentials[name];
      if (!found) throw new Error(`there are no credentials ${name}`);
      return found;
    },
    clock,
    log,
    metrics,
    owner: 'test',
    sink: { emit: async () => undefined },
    failpoint: () => undefined,
    driverFor: async () => {
      throw new Error('no machine is powered here');
    },
  } satisfies Deps;
  const row = functionTable.find(({ definition }) => definition.name === 'discovery');
  if (!row) throw new Error('there is no function discovery');
  const set = async (settings: RemoteInput) => {
    await loadInventory(store, { schemaVersion: 'v1alpha1', autoscaler: { remote: settings } });
  };
  await set(remote);
  const discovery = row.create(deps);
  const served: RunningServer = await serve([discovery], {
    host: '127.0.0.1',
    port: 0,
    log,
    metrics,
    routes: row.routes(deps),
    ...where,
  });
  const site: Site = {
    url: served.url,
    store,
    clock,
    liqo,
    metrics,
    lines,
    told,
    set,
    async look(signal = new AbortController().signal) {
      const outcome = await discovery.handle({}, { trigger: 'by-hand', id: 'look', signal });
      if (outcome.kind !== 'done') throw new Error(outcome.why);
      return outcome.answer as Record<string, unknown>;
    },
    async ask(method, path, body, headers) {
      const answer = await fetch(`${served.url}${path}`, {
        method,
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      });
      const text = await answer.text();
      return { status: answer.status, body: text ? JSON.parse(text) : {}, headers: answer.headers };
    },
    async [Symbol.asyncDispose]() {
      await served.close();
      await store.close();
    },
  };
  return site;
}

/** A cluster that borrows, as far as an exchange is concerned: what its Liqo would sign. */
export function borrower(clusterID: string, keys = newSigningKey()) {
  const { publicKey, privateKey } = keys;
  const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64');
  return {
    clusterID,
    publicKey,
    privateKey,
    peer: { clusterID, publicKey },
    exchange: (nonce: string, subject: { commonName?: string; organization?: string } = {}) => ({
      clusterID,
      publicKey,
      csr: base64(
        certificateRequest(createPrivateKey(privateKey), {
          commonName: clusterID,
          organization: 'liqo.io',
          ...subject,
        }),
      ),
      signature: base64(signerOf(privateKey).sign(nonce)),
    }),
  };
}
