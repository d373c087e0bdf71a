import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { startEtcd } from '../../../tools/real-stack/etcd.ts';
import { type ClusterSource, startClusterSource } from '../../../tools/real-stack/knative/cluster-source.ts';
import {
  brokerPrograms,
  type KnativeBroker,
  postEvent,
  startKnativeBroker,
} from '../../../tools/real-stack/knative/knative-broker.ts';
import {
  functionNames,
  functionPorts,
  type RunningFunction,
  startFunction,
} from '../../../tools/real-stack/knative/knative-functions.ts';
import { startPingSource } from '../../../tools/real-stack/knative/knative-sources.ts';
import { netnsPrograms } from '../../../tools/real-stack/netns.ts';
import type { Program } from '../../../tools/real-stack/process.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { buildFolder } from '../../../tools/support/build-folder.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { readInventory, startWorld, type World } from '../../../tools/worlds/story.ts';

const machines = ['m-1', 'm-2', 'm-3', 'm-4'];

describeWith(
  [...controlPlanePrograms, ...brokerPrograms, 'knative-mtping', ...netnsPrograms, 'go'],
  'the functions as built, on Knative’s broker and pinger, with our source',
  () => {
    const cleanup = new AsyncDisposableStack();
    let plane: ControlPlane;
    let world: World;
    let broker: KnativeBroker;
    let source: ClusterSource;
    let store: string;
    const functions = new Map<string, RunningFunction>();

    beforeAll(async () => {
      const built = await buildFolder();
      cleanup.defer(() => built.remove());
      const etcd = await startEtcd();
      cleanup.defer(() => etcd.close());
      store = `etcd://${new URL(etcd.endpoints[0] ?? '').host}`;
      plane = await startControlPlane();
      cleanup.defer(() => plane.close());
      world = await startWorld({
        kubeconfig: plane.kubeConfig.exportConfig(),
        registrar: 'kwok',
        machines: machines.map((name) => ({
          name,
          cpu: 4,
          memory: '16Gi',
          bootSeconds: 40,
          shutdownSeconds: 10,
          pool: 'rack',
        })),
        config: {
          pools: [
            { name: 'rack', scaleDown: { unneededFor: '1s', drainTimeout: '60s' }, provisionTimeout: '90s' },
          ],
        },
      });
      cleanup.defer(() => world.close());
      const ports = await functionPorts();
      broker = await startKnativeBroker(plane, ports);
      cleanup.defer(() => broker.close());
      for (const name of functionNames) {
        const running = await startFunction(name, {
          program: built.program('function'),
          port: ports[name] ?? 0,
          store,
          sink: broker.url,
          files: world.files,
        });
        cleanup.defer(() => running.remove());
        functions.set(name, running);
      }
      source = await startClusterSource({
        path: built.program('function'),
        kubeConfigFile: world.files.kubeconfig,
        sink: broker.url,
      });
      cleanup.defer(() => source.remove());
      // One tick takes the inventory in and looks at the machines; then there is none until a test starts the pinger.
      await eventually(async () => {
        await postEvent(broker.url, { type: 'dev.knative.sources.ping' });
        const records = await readInventory(store, (inventory) => inventory.machines());
        expect(records.map(({ status }) => status.powerState)).toEqual(machines.map(() => 'off'));
      }, 120_000);
    }, 600_000);
    afterAll(() => cleanup.disposeAsync(), 120_000);

    const power = () => machines.map((name) => world.lab.machines.get(name)?.machine.powerState);
    const operations = () =>
      readInventory(store, async ({ store: opened }) =>
        (await opened.list('/baremetal/operations/')).entries.map(
          ({ value }) => JSON.parse(value) as { machine: string; goal: string; end?: string },
        ),
      );

    test('pods wait, machines boot, nodes join, pods run: from the source’s events alone', async () => {
      await world.people.deploy('web', 2, { cpu: '3', memory: '1Gi' });
      await eventually(async () => expect(await world.people.running('web')).toHaveLength(2), 120_000);
      await eventually(async () =>
        expect((await operations()).map(({ goal, end }) => `${goal} ${end}`)).toEqual(['on done', 'on done']),
      );
      expect(machines.flatMap(world.commands)).toEqual(['On', 'On']);
    }, 200_000);

    test('the load ends: Knative’s pinger is the tick that powers them off', async () => {
      const pinger = await startPingSource(plane, broker, '*/2 * * * * *');
      cleanup.defer(() => pinger.kill());
      await world.people.scale('web', 0);
      await eventually(() => expect(power()).toEqual(machines.map(() => 'Off')), 180_000);
      expect(machines.flatMap(world.commands).toSorted()).toEqual([
        'GracefulShutdown',
        'GracefulShutdown',
        'On',
        'On',
      ]);
    }, 240_000);

    test('each is killed once during 1,000 events: every pod is served, nothing is done twice', async () => {
      const before = (await operations()).length;
      const commandsBefore = new Map(machines.map((name) => [name, world.commands(name).length]));
      await world.people.deploy('burst', machines.length, { cpu: '3', memory: '1Gi' });
      const victims: Program[] = [
        source.program,
        broker.ingress,
        broker.filter,
        broker.dispatcher,
        ...functions.values(),
      ];
      // Those that nobody took are lost, as they would be: the tick makes them good.
      const sent: Promise<number>[] = [];
      const batch = Math.ceil(1_000 / victims.length);
      for (const victim of victims) {
        for (let count = 0; count < batch; count += 1)
          sent.push(postEvent(broker.url, { type: 'dev.bamel.pod.waiting' }).catch(() => 0));
        await victim.kill();
        await victim.restart();
      }
      const answers = await Promise.all(sent);
      expect(answers.length).toBeGreaterThanOrEqual(1_000);
      expect(answers.filter((status) => status === 202).length).toBeGreaterThan(100);
      await eventually(async () => expect(await world.people.running('burst')).toEqual(machines), 180_000);
      const done = (await operations()).slice(before);
      expect(done.map(({ machine, goal }) => `${machine} ${goal}`).sort()).toEqual(
        machines.map((name) => `${name} on`),
      );
      // A command that may or may not have been sent when its sender was killed is sent again: on is on.
      for (const name of machines)
        expect(new Set(world.commands(name).slice(commandsBefore.get(name)))).toEqual(new Set(['On']));
    }, 600_000);
  },
);
