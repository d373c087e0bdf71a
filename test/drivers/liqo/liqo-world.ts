import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { kubeObjects } from '../../../shared/adapters/kubernetes/objects.ts';
import {
  type KubeAnswer,
  type KubeCall,
  type KubeTransport,
  kubeTransport,
} from '../../../shared/adapters/kubernetes/transport.ts';
import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import type { Provider } from '../../../shared/core/settings.ts';
import { type Orphans, releaseOrphans } from '../../../shared/drivers/index.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KubeObjects } from '../../../shared/ports/kubernetes-objects.ts';
import type { PowerDriver } from '../../../shared/ports/power.ts';
import { startApi } from '../../../simulator/lab/api/index.ts';
import { nodes } from '../../../simulator/lab/api/resource-types.ts';
import type { Store } from '../../../simulator/lab/api/store.ts';
import type { Judge, PeeringRequest } from '../../../simulator/lab/liqo/provider.ts';
import { resourceSlices, virtualNodes } from '../../../simulator/lab/liqo/types.ts';
import { type Liqo, startLiqo } from '../../../simulator/lab/liqo.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { deps, driverOf, machineSpec } from '../harness.ts';

export const provider = 'neighbour';
export const tenant = `liqo-tenant-${provider}`;
const GiB = 2 ** 30;

export interface LiqoWorld {
  readonly liqo: Liqo;
  readonly store: Store;
  readonly objects: KubeObjects;
  readonly spec: MachineSpec;
  /** All that the API server was asked. */
  readonly calls: Pick<KubeCall, 'method' | 'path'>[];
  /** What it was sent of that, `POST /apis/…`. */
  readonly writes: string[];
  /** What the provider's door was asked: `nonce`, `peering`. */
  readonly asked: string[];
  /** And the bodies of that. */
  readonly sent: string[];
  /** Of our own API server. */
  fault: Fault;
  /** The first write to such a path is never answered: whoever sent it died. */
  failOnce: RegExp | undefined;
  /** Writes to such a path are invalid, and the answer repeats this value. */
  refuse: { readonly path: RegExp; readonly value: string } | undefined;
  /** What the door answers instead; `silent`: nothing. */
  door:
    | { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
    | 'silent'
    | undefined;
  driver(more?: Partial<MachineSpec>, clock?: Clock): Promise<PowerDriver>;
  strays(isKnown: (machine: string) => boolean): Promise<Orphans | undefined>;
  /** What there is of a machine: `slice`, `virtual-node`, `node`. */
  there(name?: string): string[];
  /** Powers it on, and waits for all that comes of it. */
  on(driver: PowerDriver): Promise<void>;
  /** On or off without the driver: it is so when this returns. */
  become(power: 'on' | 'off'): Promise<void>;
  close(): Promise<void>;
}

/** Liqo on a cluster with a real HTTP API, and a provider with a door for the exchange. */
export async function startLiqoWorld(judge?: Judge): Promise<LiqoWorld> {
  const api = await startApi({});
  const { store } = api;
  const times = { reactMs: 5, nodeMs: 20, reuseMs: 200, foreignClusterErrorMs: 50, nodeUnknownMs: 100 };
  const liqo = startLiqo(store, { clusterID: 'home', providers: { [provider]: judge }, times });
  const transport = faulty(kubeTransport({ kubeconfig: api.kubeconfig() }), ({ method, path }) => {
    world.calls.push({ method, path });
    if (method === 'GET' || world.fault) return world.fault;
    world.writes.push(`${method} ${path}`);
    if (world.refuse?.path.test(path)) return invalid(world.refuse.value);
    if (!world.failOnce?.test(path)) return undefined;
    world.failOnce = undefined;
    return 'gone';
  });
  const objects = kubeObjects(transport);
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    world.asked.push(path.split('/').at(-1) ?? '');
    const given = await text(request);
    world.sent.push(given);
    const body = JSON.parse(given) as PeeringRequest;
    if (world.door === 'silent') return;
    if (world.door) return answer(response, world.door);
    if (path === '/discovery/peering/nonce')
      return answer(response, {
        status: 200,
        body: { nonce: liqo.provider(provider).nonce(body.clusterID) },
      });
    const admitted = liqo.provider(provider).exchange(body);
    answer(
      response,
      admitted ? { status: 200, body: admitted } : { status: 403, body: { error: 'the signature is wrong' } },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const spec = machineSpec(`http://127.0.0.1:${(server.address() as AddressInfo).port}/discovery`, {
    name: 'lent-1',
    pool: 'lent',
    powerInterface: 'liqo',
    bmcCredentials: undefined,
    made: true,
    resources: { cpu: 2_500, memory: 4 * GiB, pods: 20 },
    options: { clusterID: provider },
  });
  const isThere = (name: string) => ({
    slice: store.get(resourceSlices, tenant, name),
    'virtual-node': store.get(virtualNodes, tenant, name),
    node: store.get(nodes, undefined, name),
  });
  const world: LiqoWorld = {
    liqo,
    store,
    objects,
    spec,
    calls: [],
    writes: [],
    asked: [],
    sent: [],
    fault: undefined,
    failOnce: undefined,
    refuse: undefined,
    door: undefined,
    driver: (more, clock = deps.clock) => driverOf({ ...spec, ...more }, { objects, clock }),
    strays: (isKnown) => {
      const lending = { name: 'liqo', options: {} } as Provider;
      return releaseOrphans('lent', lending, isKnown, { ...deps, objects }, AbortSignal.timeout(30_000));
    },
    there: (name = spec.name) =>
      Object.entries(isThere(name)).flatMap(([part, object]) => (object ? [part] : [])),
    async on(driver) {
      await driver.set('on', AbortSignal.timeout(30_000), 'op-on');
      await eventually(() => expect(world.there()).toEqual(['slice', 'virtual-node', 'node']));
    },
    async become(power) {
      const driver = await driverOf(spec, { objects: liqo.objects });
      await driver.set(power === 'on' ? 'on' : 'hard-off', AbortSignal.timeout(30_000), 'by-hand');
      await eventually(() => expect(world.there()).toHaveLength(power === 'on' ? 3 : 0), 30_000);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      liqo.stop();
      transport.close();
      await api.close();
    },
  };
  return world;
}

type Fault = 'silent' | 'gone' | undefined;

/** An API server that is not there, answers nothing, or something of the test's. */
function faulty(transport: KubeTransport, fault: (call: KubeCall) => Fault | KubeAnswer): KubeTransport {
  return {
    ...transport,
    async send(call, signal) {
      const broken = fault(call);
      if (broken === 'gone') throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
      if (broken === undefined) return transport.send(call, signal);
      if (broken !== 'silent') return broken;
      await once(signal, 'abort');
      throw signal.reason;
    },
  };
}

/** As the API server says that a field is wrong: with what was in it. */
function invalid(value: string): KubeAnswer {
  const field = 'spec.authParams.signedCRT';
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "${value}"`, field };
  const body = { message: `invalid: ${field}: ${cause.message}`, details: { name: 'x', causes: [cause] } };
  return { status: 422, headers: {}, text: JSON.stringify(body) };
}

function answer(
  response: ServerResponse,
  { status, body, headers }: { status: number; body: unknown; headers?: Record<string, string> },
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
