import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { functionTable } from '../../functions/index.ts';
import { startEtcd } from '../real/stack/etcd.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { type RunningBundle, runBundle } from './run-bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const names = functionTable.map(({ definition }) => definition.name);

let dist: string;
let printed: string;
beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'bamel-dist-'));
  ({ stdout: printed } = await run(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist]));
}, 180_000);
afterAll(() => rm(dist, { recursive: true, force: true }));

let bundle: RunningBundle | undefined;
afterEach(async () => {
  await bundle?.remove();
  bundle = undefined;
});

const byHand = async (url: string) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return { status: answer.status, body: await answer.json() };
};

test('every function has its main.ts and its bundle, and no bundle is of something else', async () => {
  for (const name of names) await access(join(root, 'functions', name, 'main.ts'));
  expect((await readdir(join(dist, 'functions'))).sort()).toEqual([...names].sort());
  expect((await readdir(dist)).sort()).toEqual(['bamel', 'functions', 'host']);
  for (const folder of [...names.map((name) => `functions/${name}`), 'host', 'bamel']) {
    await access(join(dist, folder, 'index.mjs'));
    expect(printed).toMatch(new RegExp(`^${folder} +\\d+\\.\\d MB at start, \\d+\\.\\d MB when used$`, 'm'));
  }
});

test('the Kubernetes client and etcd are loaded only when used', () => {
  const [, start, later] = /^functions\/power-action +([\d.]+) MB at start, ([\d.]+) MB/m.exec(printed) ?? [];
  expect(Number(start)).toBeLessThan(3);
  expect(Number(later)).toBeGreaterThan(5);
});

test.each(names)('%s serves from its folder alone and stops when told', async (name) => {
  bundle = await runBundle(join(dist, 'functions', name), { BAMEL_STORE: 'embedded:' });
  expect((await fetch(`${bundle.url}/health/liveness`)).status).toBe(200);
  expect((await fetch(`${bundle.url}/health/readiness`)).status).toBe(200);
  expect(await bundle.stop()).toBe('0');
});

test('power-action answers by hand', async () => {
  bundle = await runBundle(join(dist, 'functions/power-action'), { BAMEL_STORE: 'embedded:' });
  expect(await byHand(bundle.url)).toEqual({ status: 200, body: { machines: {} } });
});

test('the host plays the demo: a pod waits, a machine is powered on', async () => {
  bundle = await runBundle(join(dist, 'host'));
  const { url } = bundle;
  await eventually(async () => expect((await fetch(`${url}/health/readiness`)).status).toBe(200));
  await eventually(() => expect(bundle?.lines.join()).toContain('power requested'));
  expect(await bundle.stop()).toBe('0');
});

test('the command runs', async () => {
  const { stdout } = await run(process.execPath, [join(dist, 'bamel/index.mjs'), 'version']);
  expect(stdout).toMatch(/^bamel \d+\.\d+\.\d+ /);
});

describeWith(['etcd'], 'with etcd as its store', () => {
  test('a bundle finds the protocol files of the client', async () => {
    const etcd = await startEtcd();
    try {
      const [address] = etcd.members.map(({ port }) => `etcd://127.0.0.1:${port}`);
      bundle = await runBundle(join(dist, 'functions/power-action'), { BAMEL_STORE: address ?? '' });
      expect((await fetch(`${bundle.url}/health/readiness`)).status).toBe(200);
      expect(await byHand(bundle.url)).toEqual({ status: 200, body: { machines: {} } });
      expect(await bundle.stop()).toBe('0');
    } finally {
      await etcd.close();
    }
  });
});
