import { join } from 'node:path';
import { disruptionBudgets, nodes, pods } from '../../simulator/lab/api/resource-types.ts';
import { resourceSlices } from '../../simulator/lab/liqo/types.ts';
import { eventually } from '../../tools/support/eventually.ts';
import type { HostProcess } from '../../tools/support/host-process.ts';
import {
  lentToo,
  machinesOf,
  noPodForgotten,
  offersKnown,
  type RemoteWorld,
  startRemoteWorld,
} from './remote-world.ts';

const namespace = 'lost';
const long = 90_000;

let world: RemoteWorld;
let host: HostProcess;
beforeAll(async () => {
  world = await startRemoteWorld({
    namespace,
    pool: { scaleDown: { unneededFor: '500ms', drainTimeout: '4s' }, limits: { hourlyCost: 0.13 } },
    timings: { powerOnTimeout: '5s', powerOffTimeout: '5s' },
  });
  host = await world.startHost(`embedded:${join(world.files.folder, 'store.db')}`);
  await offersKnown(host);
  // Kubernetes gives a silent node five minutes before it starts its pods elsewhere, unless they say otherwise.
  const impatient = ['unreachable', 'not-ready'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 2,
  }));
  const tolerations = [...lentToo.tolerations, ...impatient];
  await world.people.deploy('web', 0, { cpu: '3', memory: '1Gi' }, { tolerations });
}, 120_000);
afterAll(() => world?.close());

const lender = (node: string) => node.split('-')[1] ?? '';
const runsAt = (...wanted: string[]) =>
  eventually(
    async () => expect((await world.people.running('web')).map(lender).sort()).toEqual(wanted),
    long,
  );
const machines = () => machinesOf(host);
/** Whatever happened, it ends with nothing left on either side. */
afterEach(async () => {
  for (const id of ['cheap', 'dear']) {
    world.liqo.provider(id).setReachable(true);
    world.liqo.provider(id).setTenant('Active');
  }
  await world.people.scale('web', 0);
  await eventually(async () => {
    world.nothingLeft();
    expect(await machines()).toEqual([]);
  }, long);
}, 100_000);
/** What Kubernetes was told about nodes. */
const eventsSay = (reason: string, text: string) =>
  eventually(async () => {
    const { items } = await world.people.core.listEventForAllNamespaces();
    const told = items.filter((one) => one.reason === reason).map(({ message = '' }) => message);
    expect(told.filter((message) => message.includes(text))).not.toEqual([]);
  }, long);

test('silent while a slice is made: another lends, and nothing is left of the first', async () => {
  world.liqo.provider('cheap').setReachable(false);
  await world.people.scale('web', 1);
  await runsAt('dear');
  const quarantined = host.lines.filter((line) => line.includes('"msg":"machine quarantined"'));
  expect(quarantined.filter((line) => line.includes('provider cheap'))).not.toEqual([]);
  world.liqo.provider('cheap').setReachable(true);
  await eventually(
    async () => expect((await machines()).map(({ offer }) => offer)).toEqual(['dear.spare']),
    long,
  );
}, 300_000);

test('silent while pods run there: they run elsewhere, the old ones are not removed by force, and it comes back', async () => {
  await world.people.scale('web', 1);
  await runsAt('cheap');
  await eventually(async () => expect((await machines()).map(({ state }) => state)).toEqual(['ready']), long);
  const [before] = [...world.liqo.store.list(pods, namespace)];
  world.liqo.provider('cheap').setReachable(false);
  await runsAt('dear');
  await eventsSay('LenderTrouble', 'provider cheap does not answer');
  // It may still run over there.
  expect(world.liqo.store.get(pods, namespace, before?.metadata.name ?? '')?.metadata).toMatchObject({
    uid: before?.metadata.uid,
    deletionTimestamp: expect.any(String),
  });
  expect(world.slices().map((slice) => slice.split(' ')[0])).toEqual(['cheap', 'dear']);
  await noPodForgotten(world, namespace, 1);
  world.liqo.provider('cheap').setReachable(true);
  await eventually(() => expect(world.slices().map((slice) => slice.split(' ')[0])).toEqual(['dear']), long);
}, 300_000);

test('silent while a slice is given back: it stays on the books until it is gone', async () => {
  await world.people.scale('web', 1);
  await runsAt('cheap');
  const cheap = world.liqo.provider('cheap');
  const stop = world.liqo.store.subscribe(({ resource, object }) => {
    if (resource === resourceSlices && object.metadata.deletionTimestamp && cheap.reachable)
      cheap.setReachable(false);
  });
  await world.people.scale('web', 0);
  await eventually(async () => {
    const [slice] = await machines();
    expect(slice?.offer).toBe('cheap.spare');
    expect(slice?.error?.message).toContain('provider cheap does not answer');
  }, long);
  stop();
  expect(world.slices()).toHaveLength(1);
  await eventually(async () => expect((await machines())[0]?.node.problem).toContain('lent by cheap'), long);
}, 300_000);

test('a drained tenant: the node stays Ready, and the pods move to another lender', async () => {
  await world.people.scale('web', 1);
  await runsAt('cheap');
  world.liqo.provider('cheap').setTenant('Drained');
  await eventsSay('LenderTrouble', 'provider cheap has withdrawn it');
  await runsAt('dear');
  await eventually(() => expect(world.slices().map((slice) => slice.split(' ')[0])).toEqual(['dear']), long);
}, 300_000);

test('a budget of pods that blocks: the drain is given up, the slice kept', async () => {
  await world.people.scale('web', 1);
  await runsAt('cheap');
  world.liqo.store.create(disruptionBudgets, {
    metadata: { name: 'web', namespace },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  const [slice] = await machines();
  const response = await fetch(`${host.url}/drain-node`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ machine: slice?.name, action: 'drain', last: true }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('true')]);
  await eventually(
    () => expect(host.lines.filter((line) => line.includes('"msg":"drain given up"'))).not.toEqual([]),
    long,
  );
  await runsAt('cheap');
  await eventually(
    () =>
      expect(world.liqo.store.get(nodes, undefined, slice?.name ?? '')?.spec.unschedulable ?? false).toBe(
        false,
      ),
    long,
  );
  expect(world.slices()).toHaveLength(1);
  world.liqo.store.delete(disruptionBudgets, namespace, 'web');
}, 300_000);

test('all the while, an hour never cost more than it may', () => {
  expect(world.dearest()).toBeGreaterThan(0.05);
  expect(world.dearest()).toBeLessThanOrEqual(0.13 + 1e-9);
});
