import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { PressureReport } from '../../../shared/schema/pressure.ts';
import { layCable } from '../../../tools/real-stack/sensor/sensor-cable.ts';
import {
  cgroupPrograms,
  makePod,
  type PodCgroup,
  stop,
} from '../../../tools/real-stack/sensor/sensor-pod.ts';
import {
  type BuiltSensor,
  buildSensor,
  type SensorProcess,
  startSensor,
} from '../../../tools/real-stack/sensor/sensor-process.ts';
import { uidOf } from '../../../tools/real-stack/sensor/tree.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const cores = navigator.hardwareConcurrency;

/**
 * The machine that runs this may be busy with something else: bands are wide enough for that, times are only told.
 * Where they begin by default is for a machine of its own; the campaign measures that.
 */
const bands = JSON.stringify({
  bands: {
    cpu: { pressed: [{ above: 0.6, for: '250ms' }] },
    storage: { pressed: [{ above: 0.05, for: '250ms' }] },
    memory: { pressed: [{ above: 0.05, for: '250ms' }] },
  },
});
/** The receiver may not listen yet. */
const insistently = 'for try in 1 2 3 4 5 6 7 8 9 10; do';

describeWith(['stress-ng', 'iperf3', 'ip', 'setpriv', ...cgroupPrograms], 'the sensor on this kernel', () => {
  let built: BuiltSensor;
  let sensor: SensorProcess;
  let pods: PodCgroup[] = [];
  beforeAll(async () => {
    built = await buildSensor();
  }, 120_000);
  afterAll(() => built?.remove());
  afterEach(async () => {
    await sensor?.close();
    for (const pod of pods) await pod.remove();
    pods = [];
  });
  const pod = (index: number, scheme: Parameters<typeof makePod>[1]): PodCgroup => {
    const made = makePod(uidOf(index), scheme);
    pods.push(made);
    return made;
  };
  /** The first report that the pod is on top of. */
  const rises = (category: PressureReport['category'], uid: string, since: number): Promise<PressureReport> =>
    eventually(() => {
      const first = sensor.told.find(
        ({ report, at }) =>
          report.category === category &&
          report.sign === 'rising' &&
          at >= since &&
          report.pods[0]?.uid === uid,
      );
      expect(first ?? sensor.told.map(({ report }) => report)).toMatchObject({ report: { category } });
      if (first) console.log(`${category}: ${first.at - since} ms after the load began`);
      return first?.report as PressureReport;
    }, 60_000);
  /** At the latest when it is told again: one look does not tell what a limit does. */
  const isHeld = (category: PressureReport['category'], uid: string): Promise<void> =>
    eventually(() => {
      const pressing = sensor.told.flatMap(({ report }) => (report.category === category ? report.pods : []));
      expect(pressing).toContainEqual(expect.objectContaining({ uid, ownLimit: true }));
    }, 60_000);
  const falls = (category: PressureReport['category'], since: number): Promise<void> =>
    eventually(() => {
      const last = sensor.told.findLast(({ report }) => report.category === category);
      expect(last?.at).toBeGreaterThan(since);
      expect(last?.report).toMatchObject({ sign: 'falling', to: 'calm' });
    }, 60_000);

  test.each([
    ['cpu', 'systemd', ['--cpu', String(3 * cores)]],
    [
      'storage',
      'cgroupfs',
      ['--hdd', '6', '--hdd-opts', 'direct,sync', '--hdd-write-size', '4k', '--hdd-bytes', '64M'],
    ],
    ['memory', 'systemd', ['--vm', '4', '--vm-bytes', '256M', '--vm-method', 'zero-one']],
  ] as const)(
    '%s pressure of a pod made by %s: told with the pod on top, and when it is over',
    async (category, scheme, load) => {
      const quiet = pod(1, scheme === 'systemd' ? 'cgroupfs' : 'systemd');
      const busy = pod(2, scheme);
      if (category === 'memory') busy.limit({ memoryBytes: 64 * 2 ** 20 });
      quiet.run('sleep', ['600']);
      sensor = await startSensor(built, ['--bands', bands]);
      const began = Date.now();
      const hog = busy.run('stress-ng', ['-q', ...load, '--temp-path', tmpdir(), '--timeout', '60']);
      const report = await rises(category, busy.uid, began);
      expect(report.pods.map(({ uid }) => uid)).not.toContain(quiet.uid);
      if (category === 'memory') await isHeld(category, busy.uid);
      await stop(hog);
      // A cpu that others use as well may stay pressed: that is not this pod's any more.
      if (category !== 'cpu') await falls(category, began);
    },
    150_000,
  );

  test('a pod that its own cpu limit holds is told apart', async () => {
    const [held, free] = [pod(3, 'cgroupfs'), pod(6, 'systemd')];
    // So little that it is used up on the busiest machine.
    held.limit({ cpus: 0.05 });
    sensor = await startSensor(built, ['--bands', bands]);
    for (const one of [held, free])
      one.run('stress-ng', ['-q', '--cpu', String(2 * cores), '--timeout', '60']);
    await isHeld('cpu', held.uid);
    const others = sensor.told.flatMap(({ report }) => report.pods.filter(({ uid }) => uid === free.uid));
    expect(others).toContainEqual({ uid: free.uid, share: expect.any(Number) });
  }, 120_000);

  test('network pressure by the speed of the link, from the pod that sends', async () => {
    await using cleanup = new AsyncDisposableStack();
    const cable = await layCable();
    cleanup.defer(() => cable.close());
    const [sender, receiver] = [pod(4, 'systemd'), pod(5, 'cgroupfs')];
    receiver.run('iperf3', ['-s', '-1', '-B', cable.node]);
    // The kubelet's pause container: the network is a pod's before its first packet.
    sender.run(...cable.inside('sleep', '600'));
    sensor = await startSensor(built, ['--bands', bands, '--interfaces', cable.outside, '--megabits', '400']);
    const began = Date.now();
    const sending = sender.run(
      ...cable.inside(
        'sh',
        '-c',
        `${insistently} iperf3 -c ${cable.node} -b 450M -t 20 && exit; sleep 1; done`,
      ),
    );
    const report = await rises('network', sender.uid, began);
    expect(report.signal).toBe('link');
    // The node's counters and the pod's are read one after the other.
    expect(report.unattributed).toBeLessThan(0.2);
    await stop(sending);
    await falls('network', began);
  }, 150_000);

  test('it is nobody, has no capability, and serves what it senses', async () => {
    sensor = await startSensor(built);
    const status = await readFile(`/proc/${sensor.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65534\t65534/m);
    for (const set of ['CapEff', 'CapPrm', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`^${set}:\\t0{16}$`, 'm'));
    await eventually(async () => {
      const text = await (await fetch(`${sensor.metricsUrl}/metrics`)).text();
      expect(text).toMatch(/bamel_pressure_share\{node="n1",category="cpu",signal="psi"\} [0-9.e-]+/);
      expect(text).toMatch(/bamel_pressure_pods\{node="n1"\} \d+/);
    });
  });
});
