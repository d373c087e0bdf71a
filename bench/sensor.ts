import { pressureCategories } from '../shared/core/decide/signals/pressure-bands.ts';
import { cgroupPrograms, hierarchies, makePod, stop } from '../tools/real-stack/sensor/sensor-pod.ts';
import {
  type BuiltSensor,
  buildSensor,
  type SensorProcess,
  startSensor,
} from '../tools/real-stack/sensor/sensor-process.ts';
import { uidOf } from '../tools/real-stack/sensor/tree.ts';
import { costOf, react, sleep, stress } from './sensor-load.ts';
import type { Table } from './table.ts';

const measureMs = 15_000;
/** As many as a kubelet takes unless told otherwise. */
const usual = 110;
const rounds = 3;
/** Never reached: what others do on this machine is not what a calm node costs. */
const never = JSON.stringify({
  bands: Object.fromEntries(
    pressureCategories.map((category) => [
      category,
      { pressed: [{ above: 0.999, for: '9d' }], severe: [{ above: 0.999, for: '9d' }] },
    ]),
  ),
});
const schemes = ['systemd', 'cgroupfs'] as const;

/** What the sensor costs with few and many pods, and how soon it tells of a load, beside a scrape every 15 s. */
export async function benchSensor(): Promise<Table> {
  const columns = [
    'pods',
    'cpu while calm',
    'while pressed',
    'memory',
    'of its own',
    'event after',
    'a scrape would after',
  ];
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
        `Cpu of one core. As nobody, without capabilities, cgroups ${hierarchies.version}, ${navigator.hardwareConcurrency} cpus, a process in every pod; memory as resident, and without what is shared with other Node.js processes.`,
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
    const calm = await startSensor(built, ['--bands', never]);
    const calmCost = await cpuOf(calm);
    await calm.close();
    const sensor = await startSensor(built);
    try {
      const [busy] = pods;
      if (!busy) return [];
      const load = stress(busy, 'cpu').start();
      const pressedCost = await cpuOf(sensor);
      await stop(load);
      const times: (number | undefined)[] = [];
      const scrapes: (number | undefined)[] = [];
      for (let round = 0; count === usual && round < rounds; round += 1) {
        // Until it has calmed down again.
        await sleep(10_000);
        const { ms, scrapeMs } = await react(sensor, stress(busy, 'cpu'), true);
        times.push(ms);
        scrapes.push(scrapeMs);
      }
      // With what sending the first event has loaded.
      const { megabytes, ownMegabytes } = costOf(sensor.pid);
      return [
        String(count),
        calmCost,
        pressedCost,
        `${megabytes.toFixed(0)} MB`,
        `${ownMegabytes.toFixed(0)} MB`,
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

async function cpuOf({ pid }: SensorProcess): Promise<string> {
  // Starting up is no part of it.
  await sleep(5_000);
  const before = costOf(pid).cpuMs;
  await sleep(measureMs);
  return `${((100 * (costOf(pid).cpuMs - before)) / measureMs).toFixed(1)} %`;
}

const list = (times: readonly (number | undefined)[]): string =>
  times.length === 0 ? '' : `${times.map((ms) => ms ?? '–').join(', ')} ms`;
