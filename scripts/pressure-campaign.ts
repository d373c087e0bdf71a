// How long the sensor takes to tell of each kind of load, and how often it cries wolf: `pressure-campaign.ts
// [--minutes 10] [--rounds 5]`. As root, with stress-ng, on a machine that does nothing else. Figures: docs/pressure.md.
import { parseArgs } from 'node:util';
import { loads, react, sleep } from '../bench/sensor-load.ts';
import { printTable } from '../bench/table.ts';
import { makePod, stop } from '../test/real/sensor-pod.ts';
import { buildSensor, type SensorProcess, startSensor } from '../test/real/sensor-process.ts';
import { uidOf } from '../test/sensor/tree.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rounds: { type: 'string', default: '5' } },
});
const quietMs = Number(values.minutes) * 60_000;
const built = await buildSensor();
const pods = [makePod(uidOf(1), 'systemd'), makePod(uidOf(2), 'cgroupfs')] as const;
let sensor: SensorProcess | undefined;
try {
  sensor = await startSensor(built);
  const rows: string[][] = [];
  for (const category of Object.keys(loads) as (keyof typeof loads)[])
    for (const [index, pod] of pods.entries()) {
      if (category === 'memory') pod.limit({ memoryBytes: 64 * 2 ** 20 });
      const times: string[] = [];
      for (let round = 0; round < Number(values.rounds); round += 1) {
        await sleep(8_000);
        const { ms, top } = await react(sensor, pod, category);
        times.push(ms === undefined ? '–' : `${ms}${top ? '' : ' (another pod on top)'}`);
      }
      rows.push([category, index === 0 ? 'systemd' : 'cgroupfs', `${times.join(', ')} ms`]);
      if (category === 'memory') pod.limit({ memoryBytes: 2 ** 40 });
    }
  printTable('from the load to the event', { columns: ['category', 'driver', 'after'], rows, notes: [] });

  const quiet: string[][] = [];
  for (const [name, load] of [
    ['idle', undefined],
    ['40 % in use', ['--cpu', String(navigator.hardwareConcurrency), '--cpu-load', '40']],
  ] as const) {
    const running =
      load && pods[0].run('stress-ng', ['-q', ...load, '--timeout', String(quietMs / 1000 + 60)]);
    await sleep(10_000);
    const began = Date.now();
    await sleep(quietMs);
    const rises = sensor.told.filter(({ report, at }) => at >= began && report.sign === 'rising');
    quiet.push([
      name,
      values.minutes,
      String(rises.length),
      [...new Set(rises.map(({ report }) => report.category))].join(', ') || '–',
    ]);
    if (running) await stop(running);
  }
  printTable('false alarms', {
    columns: ['background', 'minutes', 'rising events', 'of'],
    rows: quiet,
    notes: [],
  });
} finally {
  await sensor?.close();
  for (const pod of pods) await pod.remove();
  await built.remove();
}
