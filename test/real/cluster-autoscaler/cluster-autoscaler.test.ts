import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import type { HostProcess } from '../../../tools/support/host-process.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import {
  type AutoscaledWorld,
  startAutoscaledWorld,
} from '../../../tools/worlds/cluster-autoscaler-world.ts';
import { closing } from '../../support/cleanup.ts';
import { watchLoops } from './cluster-autoscaler-loops.ts';

const pool = (name: string) => ({
  name,
  managedBy: 'clusterAutoscaler' as const,
  scaleDown: { drainTimeout: '60s' },
  provisionTimeout: '20s',
});
const machines = (poolName: string, names: readonly string[], cpu = 4) =>
  names.map((name) => ({
    name,
    cpu,
    memory: '16Gi',
    bootSeconds: 40,
    shutdownSeconds: 10,
    pool: poolName,
  }));

const power = ({ lab }: AutoscaledWorld): Record<string, string> =>
  Object.fromEntries([...lab.machines].map(([name, { machine }]) => [name, machine.powerState]));

const stateOf = async ({ url }: HostProcess, name: string): Promise<unknown> => {
  const answer = await fetch(`${url}/api/machines/${name}`);
  return ((await answer.json()) as { state?: unknown }).state;
};

/** Looks at the pools as often as the Cluster Autoscaler does: target and instances agree every time. */
function watchSizes({ caller, stopping }: AutoscaledWorld, pools: readonly string[]) {
  const wrong: string[] = [];
  let looks = 0;
  let done = false;
  const looking = (async () => {
    while (!stopping.signal.aborted && !done) {
      for (const one of pools)
        await caller.size(one).then(
          () => {
            looks += 1;
          },
          (error: Error) => wrong.push(error.message),
        );
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return async () => {
    done = true;
    await looking;
    return { wrong, looks };
  };
}

describeWith([...controlPlanePrograms, 'cluster-autoscaler'], 'the stock Cluster Autoscaler', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(() => plane?.close());

  test('from nothing to three nodes, to nothing again: healthy and consistent in each of its loops', async () => {
    const world = closing(
      await startAutoscaledWorld(plane, 'up-and-down', machines('rack', ['m-1', 'm-2', 'm-3']), [
        pool('rack'),
      ]),
    );
    const host = await world.serve();
    await world.autoscale();
    const sizes = watchSizes(world, ['rack']);
    const loops = watchLoops(world, ['rack']);
    await world.people.deploy('web', 3, { cpu: '3', memory: '1Gi' });
    await eventually(
      async () => expect(await world.people.running('web')).toEqual(['m-1', 'm-2', 'm-3']),
      90_000,
    );
    const { instances } = await world.caller.call('NodeGroupNodes', { id: 'rack' });
    const { items } = await world.people.core.listNode();
    expect(instances.map(({ id }) => id).sort()).toEqual(
      items.flatMap(({ spec }) => spec?.providerID ?? []).sort(),
    );
    await world.people.scale('web', 0);
    await eventually(() => expect(new Set(Object.values(power(world)))).toEqual(new Set(['Off'])), 90_000);
    await eventually(async () => expect(await world.people.nodes()).toEqual(['control-1']), 60_000);
    await eventually(async () => expect(await world.caller.size('rack')).toBe(0));
    await eventually(() => expect(loops.seen.size).toBeGreaterThanOrEqual(30), 120_000);
    await loops.stop();
    expect((await sizes()).wrong).toEqual([]);
    expect(loops.wrong).toEqual([]);
    const seen = [...loops.seen.values()];
    expect(new Set(seen.map(({ health }) => health))).toEqual(new Set(['Healthy']));
    expect(seen.flatMap(({ targets }) => targets)).toEqual(expect.arrayContaining(['rack 0', 'rack 3']));
    // What it does with a target that it cannot make sense of.
    expect(world.said()).not.toContain('Decreasing size of');
    // Its deletions left nothing behind: all machines are off, as the store has it, and their Nodes are gone.
    for (const machine of ['m-1', 'm-2', 'm-3']) expect(await stateOf(host, machine)).toBe('off');
    for (const machine of ['m-1', 'm-2', 'm-3'])
      expect(world.commands(machine)).toEqual(['On', 'GracefulShutdown']);
  }, 300_000);

  test('a machine that never boots: it backs off, and another pool serves', async () => {
    const world = closing(
      await startAutoscaledWorld(
        plane,
        'never-boots',
        [...machines('first', ['a-1']), ...machines('second', ['b-1'], 16)],
        [pool('first'), pool('second')],
      ),
    );
    world.lab.machines.get('a-1')?.machine.faults.set({ fault: 'never-boots' });
    await world.serve();
    await world.autoscale(['--expander=least-waste']);
    const sizes = watchSizes(world, ['first', 'second']);
    await world.people.deploy('web', 1, { cpu: '3', memory: '12Gi' });
    await eventually(() => expect(world.commands('a-1')).toContain('On'), 60_000);
    await eventually(async () => expect(await world.people.running('web')).toEqual(['b-1']), 120_000);
    await eventually(async () => expect(await world.status()).toMatch(/Backoff/), 30_000);
    await eventually(async () => expect(await world.caller.size('first')).toBe(0), 60_000);
    expect((await sizes()).wrong).toEqual([]);
  }, 300_000);

  test('a machine that loses power while it boots is replaced', async () => {
    const world = closing(
      await startAutoscaledWorld(
        plane,
        'fails-midway',
        [...machines('first', ['a-1']), ...machines('second', ['b-1'], 16)],
        [pool('first'), pool('second')],
      ),
    );
    world.lab.machines.get('a-1')?.machine.faults.set({ fault: 'boots-slowly', factor: 10 });
    const host = await world.serve();
    await world.autoscale(['--expander=least-waste']);
    await world.people.deploy('web', 1, { cpu: '3', memory: '12Gi' });
    await eventually(async () => expect(await stateOf(host, 'a-1')).toBe('joining'), 60_000);
    world.lab.machines.get('a-1')?.machine.cutPower();
    await eventually(async () => expect(await world.people.running('web')).toEqual(['b-1']), 120_000);
    await eventually(async () => expect(await world.caller.size('first')).toBe(0), 60_000);
  }, 300_000);

  test('a machine that is slower than it waits for is deleted, and powered off once it has joined', async () => {
    const world = closing(
      await startAutoscaledWorld(plane, 'unregistered', machines('rack', ['m-1']), [
        { ...pool('rack'), provisionTimeout: '90s' },
      ]),
    );
    world.lab.machines.get('m-1')?.machine.faults.set({ fault: 'boots-slowly', factor: 25 });
    const host = await world.serve();
    await world.autoscale(['--max-node-provision-time=5s']);
    const sizes = watchSizes(world, ['rack']);
    await world.people.deploy('web', 1, { cpu: '3', memory: '1Gi' });
    await eventually(async () => expect(await stateOf(host, 'm-1')).toBe('joining'), 60_000);
    await eventually(async () => expect(await world.caller.size('rack')).toBe(0), 60_000);
    expect(power(world)['m-1']).toBe('On');
    // The pod still waits, and is perhaps put on it as soon as it joins: it is evicted, as any other.
    await eventually(
      () => expect(world.commands('m-1').slice(0, 2)).toEqual(['On', 'GracefulShutdown']),
      90_000,
    );
    expect((await sizes()).wrong).toEqual([]);
  }, 300_000);
});
