import { setImmediate } from 'node:timers/promises';
import { Client, credentials, type MethodDefinition, type ServiceError } from '@grpc/grpc-js';
import { openMirror } from '../apps/cluster-autoscaler/mirror.ts';
import { startProvider } from '../apps/cluster-autoscaler/server.ts';
import { createService } from '../apps/cluster-autoscaler/service.ts';
import { definitionOf, healthService } from '../apps/cluster-autoscaler/wire.ts';
import { openStore } from '../shared/adapters/store/open-store.ts';
import type { Store } from '../shared/ports/store.ts';
import { realClock } from '../shared/process/clock.ts';
import { createLog } from '../shared/process/log.ts';
import { encode } from '../shared/state/codec.ts';
import { createInventory } from '../shared/state/inventory.ts';
import { loadInventory } from '../shared/state/inventory-load.ts';
import { keys } from '../shared/state/keys.ts';
import { raceAutoscalers } from './externalgrpc-race.ts';
import type { Table } from './table.ts';

const pools = 100;
const perPool = 100;
const calls = 20_000;
const atOnce = 16;
/** Not counted: the code is compiled meanwhile. */
const warmUp = 3_000;

/** How fast the Cluster Autoscaler is answered, and how fast a machine is powered on through it and without it. */
export async function benchExternalgrpc(): Promise<Table> {
  const answered = await benchAnswers();
  const race = await raceAutoscalers();
  return {
    columns: ['', 'calls/s', 'p50', 'p99'],
    rows: [...answered, ...race.rows],
    notes: [
      `${pools * perPool} machines in ${pools} groups; calls/s with ${atOnce} at once, times one after the other; client and server in one process. Handling is without the wire, with a change of the machine asked for before each call.`,
      ...race.notes,
    ],
  };
}

const some = (index: number): string => `pool-${index % pools}`;
const machineOf = (index: number): string => `${some(index)}-m-${(index * 7) % perPool}`;

/** What the Cluster Autoscaler asks most: several times per node in every round. */
const asked = [
  ['NodeGroupTargetSize', (index: number) => ({ id: some(index) })],
  [
    'NodeGroupForNode',
    (index: number) => ({ node: { name: 'some-node', providerID: `bamel://${machineOf(index)}` } }),
  ],
] as const;

type Definition = MethodDefinition<object, object>;

async function benchAnswers(): Promise<string[][]> {
  const store = await openStore('embedded:');
  const names = Array.from({ length: pools }, (_, index) => `pool-${index}`);
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    pools: names.map((name) => ({ name, managedBy: 'clusterAutoscaler' })),
    machines: names.flatMap((pool) =>
      Array.from({ length: perPool }, (_, index) => ({
        name: `${pool}-m-${index}`,
        pool,
        powerInterface: 'redfish',
        mgmtAddress: `https://${pool}-${index}.example`,
        resources: { cpu: 8, memory: '32Gi' },
      })),
    ),
  });
  const deps = {
    inventory: createInventory(store, realClock),
    clock: realClock,
    log: createLog({ level: 'warn', format: 'json' }),
    failpoint: () => undefined,
    owner: 'bench',
    sink: { emit: async () => undefined },
  };
  const provider = await startProvider(deps, { host: '127.0.0.1', port: 0 });
  const client = new Client(`127.0.0.1:${provider.port}`, credentials.createInsecure());
  try {
    const rows: string[][] = [];
    const floor = healthService.Check as Definition;
    for (const [name, method, request] of [
      ['an empty call, the floor', floor, () => ({})],
      ...asked.map(([name, one]) => [name, definitionOf(name), one] as const),
    ] as const) {
      await measure(client, method, request, warmUp, atOnce);
      const { seconds } = await measure(client, method, request, calls, atOnce);
      // One after the other, as the Cluster Autoscaler asks: otherwise it is the queue that is measured.
      const { times } = await measure(client, method, request, calls / 4, 1);
      rows.push([name, (calls / seconds).toFixed(0), at(times, 0.5), at(times, 0.99)]);
    }
    return [...rows, ...(await benchHandling(deps, store))];
  } finally {
    client.close();
    await provider.close();
    await store.close();
  }
}

/** From the bytes of a request to those of its answer, without the wire; a machine changes before each. */
async function benchHandling(
  deps: Omit<Parameters<typeof createService>[0], 'mirror'>,
  store: Store,
): Promise<string[][]> {
  const mirror = await openMirror(store, realClock);
  const service = createService({ ...deps, mirror }, { options: false });
  const { signal } = new AbortController();
  await mirror.until(() => mirror.groups().length === pools, signal);
  const rows: string[][] = [];
  for (const [name, request] of asked) {
    const { requestSerialize, requestDeserialize, responseSerialize } = definitionOf(name);
    const times: number[] = [];
    for (let index = 0; index < warmUp + calls / 4; index += 1) {
      const status = { state: 'off', stateSince: index + 1, powerState: 'off', attempts: 0 };
      await store.commit([], [{ put: keys.node(machineOf(index), 'status'), value: encode(status) }]);
      // The watch tells of it; what follows from it is worked out when somebody asks.
      await setImmediate();
      const bytes = requestSerialize(request(index));
      const begun = performance.now();
      responseSerialize(await service[name](requestDeserialize(bytes) as never, signal));
      if (index >= warmUp) times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    rows.push([`${name}, handling`, '', at(times, 0.5), at(times, 0.99)]);
  }
  await mirror.close();
  return rows;
}

const at = (times: readonly number[], share: number): string =>
  `${(times[Math.floor(share * times.length)] ?? 0).toFixed(2)} ms`;

async function measure(
  client: Client,
  { path, requestSerialize, responseDeserialize }: Definition,
  request: (index: number) => object,
  total: number,
  width: number,
): Promise<{ seconds: number; times: number[] }> {
  const times: number[] = [];
  let next = 0;
  const call = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = performance.now();
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request(index),
        (error: ServiceError | null) => {
          times.push(performance.now() - sent);
          if (error) reject(error);
          else resolve();
        },
      );
    });
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) {
        next += 1;
        await call(next);
      }
    }),
  );
  return { seconds: (performance.now() - begun) / 1_000, times: times.sort((a, b) => a - b) };
}
