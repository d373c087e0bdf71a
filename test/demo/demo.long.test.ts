import { scenarios } from '../../simulator/demo/scenario.ts';
import { type BuiltFolder, buildFolder } from '../../tools/support/build-folder.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type Demo, type Said, startDemo } from './run-demo.ts';

/** All at once: most of a demo is waiting. */
let host: BuiltFolder;
let demos: Readonly<Record<keyof typeof scenarios, Demo>>;
beforeAll(async () => {
  host = await buildFolder();
  const start = (name: string) => startDemo(host.program('host'), ['--speed', '40', '--scenario', name]);
  demos = { day: start('day'), homelab: start('homelab'), burst: start('burst') };
}, 120_000);
afterAll(async () => {
  await Promise.all(Object.values(demos ?? {}).map((demo) => demo.kill()));
  await host?.remove();
});

const items = async <Item>(demo: Demo, path: string): Promise<Item[]> =>
  ((await (await demo.get(path)).json()) as { items: Item[] }).items;
const told = (demo: Demo, step: string): string[] =>
  demo.said().flatMap((line) => (line.step === step ? [line.text ?? ''] : []));

test('without a config the day is played, and its console says what is going on', async () => {
  const { day } = demos;
  const about = await eventually(async () => {
    const body = (await (await day.get('/api/about')).json()) as { caption?: string };
    expect(body.caption).toMatch(/^\d\d:\d\d – /);
    return body;
  }, 60_000);
  expect(about).toMatchObject({ dryRun: false, cluster: true });
  const pools = await items<{ name: string; machines: number }>(day, '/api/pools');
  expect(pools.map(({ name, machines }) => [name, machines])).toEqual([
    ['batch', 5],
    ['gpu', 3],
    ['web', 8],
  ]);
  const page = await day.get('/');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('the machine whose BMC breaks is quarantined, and others serve the rush', async () => {
  const { day } = demos;
  await eventually(
    () =>
      expect(day.said().map(({ text }) => text)).toContainEqual(
        expect.stringMatching(/quarantined: power is still off/),
      ),
    110_000,
  );
  await eventually(async () => {
    const machines = await items<{ name: string; state: string }>(day, '/api/machines');
    const serving = machines.filter(({ name, state }) => name.startsWith('mini-') && state === 'ready');
    expect(serving.length).toBeGreaterThan(1);
  }, 60_000);
}, 180_000);

test('what the rush needed is powered off again, although one of them had failed', async () => {
  const isOff = ({ machine, text }: Said) =>
    machine?.startsWith('mini-') && text?.startsWith('off, verified');
  await eventually(() => expect(demos.day.said().filter(isOff).length).toBeGreaterThan(2), 150_000);
}, 200_000);

test.each([
  ['homelab', '6 of 6 have a node', 3],
  ['burst', '48 of 48 have a node', 12],
] as const)(
  '%s is played to its end: told scene by scene, pods served, machines off again',
  async (name, served, machines) => {
    const demo = demos[name];
    const captions = scenarios[name].scenes.map(({ caption }) => caption);
    await eventually(() => expect(told(demo, 'people').slice(0, captions.length)).toEqual(captions), 150_000);
    // If this computer is too slow for it, then in a later round.
    await eventually(
      () => expect(told(demo, 'pods')).toContainEqual(expect.stringContaining(served)),
      120_000,
    );
    const off = () => told(demo, 'power').filter((text) => /^off, verified/.test(text));
    await eventually(() => expect(off().length).toBeGreaterThanOrEqual(machines), 60_000);
    expect(demo.said().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  },
  350_000,
);
