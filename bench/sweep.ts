import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Deps } from '../functions/deps.ts';
import { powerAction } from '../functions/power-action/handler.ts';
import { openStore } from '../shared/adapters/store/open-store.ts';
import { driverFor } from '../shared/drivers/index.ts';
import { realClock } from '../shared/process/clock.ts';
import { createLog } from '../shared/process/log.ts';
import { createInventory } from '../shared/state/inventory.ts';
import { loadInventory } from '../shared/state/inventory-load.ts';
import type { Table } from './table.ts';

const sizes = [1_000, 10_000];
const minute = 60_000;
/** What is due in each round, and how much later it is then than in the one before. */
const rounds = [
  { due: 'all, for the first time', laterMs: 0 },
  { due: 'power', laterMs: 2 * minute },
  { due: 'power and sensors', laterMs: 6 * minute },
] as const;

/** Power, sensors and health of every machine, by Redfish over loopback from BMCs in another process. */
export async function benchSweep(): Promise<Table> {
  const bmcs = fork(fileURLToPath(new URL('./sweep-bmcs.ts', import.meta.url)), { stdio: 'inherit' });
  const [port] = (await once(bmcs, 'message')) as [number];
  try {
    const rows: string[][] = [];
    for (const size of sizes) rows.push(...(await sweepOf(size, port)));
    return {
      columns: [
        'machines',
        'due',
        'took',
        'machines/s',
        'CPU of it',
        'writes',
        'RSS before',
        'RSS after',
        'heap in use',
      ],
      rows,
      notes: [
        'Every answer of a BMC comes 50 ms late: 9 requests a machine for the first time, with its hardware log, 1 for its',
        'power, 3 with its sensors, and 1 more every ten minutes for its log: of 2 in 10 machines in the second round, of',
        '8 in 10 in the third. One process, embedded store in memory; the BMCs are in another process.',
      ],
    };
  } finally {
    bmcs.disconnect();
    await once(bmcs, 'exit');
  }
}

async function sweepOf(size: number, port: number): Promise<string[][]> {
  const store = await openStore('embedded:');
  const names = Array.from({ length: size }, (_, index) => `m-${index + 1}`);
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    // A machine that is busy with other things is slow, not wrong.
    autoscaler: { timings: { bmcTimeout: '1m' } },
    pools: [{ name: 'rack' }],
    machines: names.map((name) => ({
      name,
      pool: 'rack',
      powerInterface: 'redfish',
      mgmtAddress: `http://${name}.bmc.test:${port}`,
      systemUUID: name,
      resources: { cpu: 4, memory: '16Gi' },
    })),
  });
  const none = (): never => {
    throw new Error('a sweep needs no cluster');
  };
  const driverDeps = {
    credentials: none,
    resolve: async () => '127.0.0.1',
    nodeOf: none,
    jobs: { ensure: none, read: none, latest: none },
    clock: realClock,
  };
  let later = 0;
  const clock = { ...realClock, now: () => Date.now() + later };
  const deps: Deps = {
    inventory: createInventory(store, clock),
    cluster: undefined as unknown as Deps['cluster'],
    driverFor: (spec) => driverFor(spec, driverDeps),
    sink: { emit: async () => undefined },
    clock,
    log: createLog({ level: 'silent', format: 'json' }),
    failpoint: () => undefined,
    owner: 'bench',
  };
  const sweep = powerAction(deps);
  const rows: string[][] = [];
  for (const { due, laterMs } of rounds) {
    later += laterMs;
    const before = process.memoryUsage.rss();
    const { revision } = await store.list('/baremetal/global/');
    const cpu = process.cpuUsage();
    const begun = performance.now();
    const outcome = await sweep({}, { trigger: 'bench', id: due, signal: new AbortController().signal });
    const seconds = (performance.now() - begun) / 1000;
    const used = process.cpuUsage(cpu);
    const looked = outcome.kind === 'done' ? Object.values((outcome.answer as Answer).machines) : [];
    const seen = looked.filter((text) => text === 'power is off').length;
    if (seen !== size)
      throw new Error(`${seen} of ${size} were seen: ${looked.find((text) => text !== 'power is off')}`);
    const writes = (await store.list('/baremetal/global/')).revision - revision;
    rows.push([
      String(size),
      due,
      `${seconds.toFixed(1)} s`,
      (size / seconds).toFixed(0),
      `${((used.user + used.system) / 1e6).toFixed(1)} s`,
      String(writes),
      megabytes(before),
      megabytes(process.memoryUsage.rss()),
      megabytes(heapInUse()),
    ]);
  }
  await store.close();
  return rows;
}

interface Answer {
  readonly machines: Readonly<Record<string, string>>;
}

/** Without what is only waiting to be collected. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
