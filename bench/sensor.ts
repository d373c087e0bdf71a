import { cgroupPrograms, hierarchies, makePod } from '../test/real/sensor-pod.ts';
import { type BuiltSensor, buildSensor, startSensor } from '../test/real/sensor-process.ts';
import { uidOf } from '../test/sensor/tree.ts';
import { costOf, react, sleep } from './sensor-load.ts';
import type { Table } from './table.ts';

const measureMs = 15_000;
/** As many as a kubelet takes unless told otherwise. */
const usual = 110;
const rounds = 3;
const schemes = ['systemd', 'cgroupfs'] as const;

/** What the sensor costs with few and many pods, and how soon it tells of a load, beside a scrape every 15 s. */
export async function benchSensor(): Promise<Table> {
  const columns = ['pods', 'cpu, of one core', 'memory', 'of its own', 'event after', 'a scrape would after'];
  if (cgroupPrograms.length > 0)
    return { columns, rows: [], notes: [`needs ${cgroupPrograms.join(' and ')}`] };
  const built = await buildSensor();
  try {
    const rows: string[][] = [];
    for (const count of [10, usual, 1_000]) rows.push(await measure(built, count));
    return {
      columns,
      rows,
      notes: [
        `As nobody, without capabilities, cgroups ${hierarchies.version}, ${navigator.hardwareConcurrency} cpus, a process in every pod; memory as resident, and without what is shared with other Node.js processes.`,
        `The load is twice as many busy processes as cpus in one pod, ${rounds} times; the event is counted when its receiver has it. A scrape sees more than 80 % in use, or does not within 30 s (–).`,
      ],
    };
  } finally {
    await built.remove();
  }
}

async function measure(built: BuiltSensor, count: number): Promise<string[]> {
  const pods = Array.from({ length: count }, (_, index) =>
    makePod(uidOf(index), schemes[index % 2] ?? 'systemd'),
  );
  try {
    for (const pod of pods) pod.run('sleep', ['3600']);
    const sensor = await startSensor(built);
    try {
      // Starting up is no part of it.
      await sleep(5_000);
      const before = costOf(sensor.pid);
      await sleep(measureMs);
      const after = costOf(sensor.pid);
      const times: (number | undefined)[] = [];
      const scrapes: (number | undefined)[] = [];
      for (let round = 0; count === usual && round < rounds; round += 1) {
        const [busy] = pods;
        if (!busy) break;
        const { ms, scrapeMs } = await react(sensor, busy, 'cpu', true);
        times.push(ms);
        scrapes.push(scrapeMs);
        // Until it has calmed down again.
        await sleep(10_000);
      }
      return [
        String(count),
        `${((100 * (after.cpuMs - before.cpuMs)) / measureMs).toFixed(1)} %`,
        `${after.megabytes.toFixed(0)} MB`,
        `${after.ownMegabytes.toFixed(0)} MB`,
        list(times),
        list(scrapes),
      ];
    } finally {
      await sensor.close();
    }
  } finally {
    for (const pod of pods) await pod.remove();
  }
}

const list = (times: readonly (number | undefined)[]): string =>
  times.length === 0 ? '' : `${times.map((ms) => ms ?? '–').join(', ')} ms`;
