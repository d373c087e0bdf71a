// How long the sensor takes to tell of each kind of load, and how often it cries wolf: `pressure-campaign.ts
// [--minutes 10] [--rounds 5]`. As root, with stress-ng and iperf3, on a machine that does nothing else. Figures: docs/pressure.md.
import { parseArgs } from 'node:util';
import { type Load, loads, react, sleep, stress } from '../bench/sensor-load.ts';
import { watchOthers } from '../bench/sensor-others.ts';
import { printTable } from '../bench/table.ts';
import { layCable } from '../tools/real-stack/sensor/sensor-cable.ts';
import { makePod, stop } from '../tools/real-stack/sensor/sensor-pod.ts';
import { buildSensor, type SensorProcess, startSensor } from '../tools/real-stack/sensor/sensor-process.ts';
import { uidOf } from '../tools/real-stack/sensor/tree.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rounds: { type: 'string', default: '5' } },
});
const quietMs = Number(values.minutes) * 60_000;
const built = await buildSensor();
const pods = [makePod(uidOf(1), 'systemd'), makePod(uidOf(2), 'cgroupfs')] as const;
const cables = [await layCable(1), await layCable(2)] as const;
const receiver = makePod(uidOf(3), 'systemd');
let sensor: SensorProcess | undefined;
try {
  receiver.run('iperf3', ['-s']);
  const places = [
    { driver: 'systemd', pod: pods[0], cable: cables[0] },
    { driver: 'cgroupfs', pod: pods[1], cable: cables[1] },
  ];
  for (const { pod, cable } of places) pod.run(...cable.inside('sleep', '86400'));
  const interfaces = cables.map(({ outside }) => outside).join(',');
  sensor = await startSensor(built, ['--interfaces', interfaces, '--megabits', '400']);
  const rows: string[][] = [];
  for (const category of [...(Object.keys(loads) as (keyof typeof loads)[]), 'network' as const])
    for (const { driver, pod, cable } of places) {
      if (category === 'memory') pod.limit({ memoryBytes: 64 * 2 ** 20 });
      // 450 of 400 Mbit/s, over the pod's own network.
      const send = () => pod.run(...cable.inside('iperf3', '-c', cable.node, '-b', '450M', '-t', '60'));
      const load: Load = category === 'network' ? { category, pod, start: send } : stress(pod, category);
      const times: string[] = [];
      for (let round = 0; round < Number(values.rounds); round += 1) {
        await sleep(8_000);
        const { ms, top } = await react(sensor, load);
        times.push(ms === undefined ? '–' : `${ms}${top ? '' : ' (another pod on top)'}`);
      }
      rows.push([category, driver, `${times.join(', ')} ms`]);
      if (category === 'memory') pod.limit({ memoryBytes: 2 ** 40 });
    }
  printTable('from the load to the event', { columns: ['category', 'driver', 'after'], rows, notes: [] });

  const quiet: string[][] = [];
  for (const [name, load] of [
    ['idle', 0],
    ['40 % in use', 0.4],
  ] as const) {
    const part = ['--cpu', String(navigator.hardwareConcurrency), '--cpu-load', String(100 * load)];
    const running =
      load > 0 && pods[0].run('stress-ng', ['-q', ...part, '--timeout', String(quietMs / 1000 + 60)]);
    await sleep(10_000);
    const others = watchOthers(load);
    const began = Date.now();
    await sleep(quietMs);
    others.stop();
    const rises = sensor.told.filter(
      ({ report, at }) => at >= began && report.from !== report.to && report.sign === 'rising',
    );
    const unfounded = rises.filter(({ report, at }) => !others.atWork(report, at));
    quiet.push([
      name,
      values.minutes,
      String(rises.length),
      String(unfounded.length),
      unfounded.map(({ report }) => JSON.stringify(report)).join('\n') || '–',
    ]);
    if (running) await stop(running);
  }
  printTable('false alarms', {
    columns: ['background', 'minutes', 'rising events', 'while nobody else was at work', 'which'],
    rows: quiet,
    notes: ['Somebody else is at work when cpus or disks are in use by much more than the background.'],
  });
} finally {
  await sensor?.close();
  for (const pod of [...pods, receiver]) await pod.remove();
  for (const cable of cables) await cable.close();
  await built.remove();
}
