import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { events } from '../../../shared/ports/event-types.ts';
import {
  cgroupPrograms,
  hierarchies,
  makePod,
  type PodCgroup,
  stop,
} from '../../../tools/real-stack/sensor/sensor-pod.ts';
import { buildSensor, startSensor } from '../../../tools/real-stack/sensor/sensor-process.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type HostWorld, startHostWorld } from '../../functions/host-harness.ts';
import { newFolder } from '../../support/cleanup.ts';

const like = { cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 1, pool: 'rack' };

/**
 * A /proc as on a node that the pod has for itself: what the kernel counts as pressure of its cgroup. Whatever else
 * this machine does, it begins and ends with the pod's load.
 */
async function seeOnly({ path }: PodCgroup, proc: string): Promise<void> {
  await mkdir(join(proc, 'pressure'));
  for (const kind of ['cpu', 'memory', 'io'])
    await symlink(join(hierarchies.unified ?? '', path, `${kind}.pressure`), join(proc, 'pressure', kind));
}

describeWith(['stress-ng', 'setpriv', ...cgroupPrograms], 'from a busy pod to a machine that is on', () => {
  let world: HostWorld;
  const cleanup = new AsyncDisposableStack();

  beforeAll(async () => {
    world = await startHostWorld(
      [
        { ...like, name: 'n1', on: true },
        // What is asked for decides, not what it costs.
        { ...like, name: 'cpu-rich', memory: '8Gi', watts: { idle: 90, max: 300 } },
        { ...like, name: 'memory-rich', cpu: 2 },
      ],
      { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h' } }] },
      async (people) => {
        await people.deploy('web', 2, { cpu: '1500m', memory: '1Gi' });
        await eventually(async () => expect(await people.running('web')).toEqual(['n1', 'n1']));
      },
      undefined,
      () => ({
        token: async () => 'act',
        reporters: {
          token: async () => 'tell',
          accounts: [],
          event: events.pressureChanged,
          paths: ['/evaluate-scaling'],
        },
      }),
    );
    cleanup.defer(() => world.close());
    await becomes('n1', 'ready');
  }, 120_000);
  afterAll(() => cleanup.disposeAsync(), 60_000);

  const read = async (key: string) => JSON.parse((await world.store.get(key))?.value ?? '{}');
  const stateOf = async (machine: string): Promise<string> =>
    (await read(`/baremetal/nodes/${machine}/status`)).state;
  const becomes = (machine: string, state: string): Promise<void> =>
    eventually(async () => {
      await world.host.emit({ type: events.tick, subject: 'everything', data: {} });
      expect(await stateOf(machine)).toBe(state);
    }, 60_000);
  const actions = async (): Promise<string[]> =>
    (await world.store.list('/baremetal/operations/')).entries.map(({ value }) => {
      const { machine, goal } = JSON.parse(value);
      return `${machine} ${goal}`;
    });

  test('the sensor sees it, the host takes its token, the machine with cpus comes, a new replica lands there; the end of it powers nothing off', async () => {
    const built = await buildSensor();
    cleanup.defer(() => built.remove());
    const folder = newFolder();
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'token'), 'tell\n');
    const { items } = await world.people.core.listNamespacedPod({ namespace: 'by-hand' });
    const pod = makePod(items[0]?.metadata?.uid ?? '', 'systemd');
    cleanup.defer(() => pod.remove());
    await seeOnly(pod, folder);
    const sensor = await startSensor(built, [
      ...['--proc', folder, '--token-file', join(folder, 'token')],
      ...['--sink', `${world.host.url}/evaluate-scaling`],
    ]);
    cleanup.defer(() => sensor.close());
    const told = async () => (await read('/baremetal/global/pressure-n1')).readings?.cpu;
    const began = Date.now();
    const load = pod.run('stress-ng', [
      '-q',
      '--cpu',
      String(4 * navigator.hardwareConcurrency),
      '--timeout',
      '120',
    ]);

    await eventually(
      async () => expect(await told()).toMatchObject({ band: 'pressed', sign: 'rising' }),
      60_000,
    );
    console.log(`pressure is in the store ${Date.now() - began} ms after the load began`);
    // Without a tick: the event alone makes the decision.
    await eventually(async () => expect(await actions()).toEqual(['cpu-rich on']), 60_000);
    console.log(`the machine is asked for ${Date.now() - began} ms after the load began`);
    await becomes('cpu-rich', 'ready');
    expect(await stateOf('memory-rich')).toBe('off');
    await world.people.scale('web', 3);
    await eventually(async () => expect(await world.people.running('web')).toContain('cpu-rich'));

    await stop(load);
    await eventually(
      async () => expect(await told()).toMatchObject({ band: 'calm', sign: 'falling' }),
      60_000,
    );
    await world.host.emit({ type: events.tick, subject: 'everything', data: {} });
    await eventually(async () => {
      const { items: events } = await world.people.core.listNamespacedEvent({ namespace: 'default' });
      expect(events.map(({ reason }) => reason)).toContain('PressureOver');
    });
    expect(await actions()).not.toContainEqual(expect.stringMatching(/ off$/));
    expect([await stateOf('n1'), await stateOf('cpu-rich')]).toEqual(['ready', 'ready']);
  }, 240_000);
});
