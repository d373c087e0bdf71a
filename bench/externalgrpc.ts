import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { startProvider } from '../functions/cluster-autoscaler/server.ts';
import { definitionOf, type Method } from '../functions/cluster-autoscaler/wire.ts';
import { createInventory } from '../shared/adapters/inventory.ts';
import { loadInventory } from '../shared/adapters/inventory-load.ts';
import { openStore } from '../shared/adapters/store.ts';
import { realClock } from '../shared/runtime/clock.ts';
import { createLog } from '../shared/runtime/log.ts';
import { raceAutoscalers } from './externalgrpc-race.ts';
import type { Table } from './table.ts';

const pools = 100;
const perPool = 100;
const calls = 20_000;
const atOnce = 16;

/** How fast the Cluster Autoscaler is answered, and how fast a machine is powered on through it and without it. */
export async function benchExternalgrpc(): Promise<Table> {
  const answered = await benchAnswers();
  const race = await raceAutoscalers();
  return {
    columns: ['', 'calls/s', 'p50', 'p99'],
    rows: [...answered, ...race.rows],
    notes: [
      `${pools * perPool} machines in ${pools} groups; calls/s with ${atOnce} at once, times one after the other; client and server in one process.`,
      ...race.notes,
    ],
  };
}

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
  const provider = await startProvider(
    {
      inventory: createInventory(store, realClock),
      clock: realClock,
      log: createLog({ level: 'warn', format: 'json' }),
      failpoint: () => undefined,
      owner: 'bench',
      sink: { emit: async () => undefined },
    },
    { host: '127.0.0.1', port: 0 },
  );
  const client = new Client(`127.0.0.1:${provider.port}`, credentials.createInsecure());
  try {
    const some = (index: number) => `pool-${index % pools}`;
    const rows: string[][] = [];
    for (const [method, request] of [
      ['NodeGroupTargetSize', (index: number) => ({ id: some(index) })],
      [
        'NodeGroupForNode',
        (index: number) => ({
          node: { name: 'some-node', providerID: `bamel://${some(index)}-m-${(index * 7) % perPool}` },
        }),
      ],
    ] as const) {
      await measure(client, method, request, 3_000, atOnce);
      const { seconds } = await measure(client, method, request, calls, atOnce);
      // One after the other, as the Cluster Autoscaler asks: otherwise it is the queue that is measured.
      const { times } = await measure(client, method, request, calls / 4, 1);
      const at = (share: number): string => `${(times[Math.floor(share * times.length)] ?? 0).toFixed(2)} ms`;
      rows.push([method, (calls / seconds).toFixed(0), at(0.5), at(0.99)]);
    }
    return rows;
  } finally {
    client.close();
    await provider.close();
    await store.close();
  }
}

async function measure(
  client: Client,
  method: Method,
  request: (index: number) => object,
  total: number,
  width: number,
): Promise<{ seconds: number; times: number[] }> {
  const { path, requestSerialize, responseDeserialize } = definitionOf(method);
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
