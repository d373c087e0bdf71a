import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deployed } from '../../apps/host/deployed.ts';
import { type Etcd, startEtcd } from '../../tools/real-stack/etcd.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { callerOf } from '../../tools/worlds/cluster-autoscaler-client.ts';
import { closing } from '../support/cleanup.ts';
import { type RunningBundle, runBundle } from './run-bundle.ts';
import { type Scene, startScene, tick } from './scene.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const names = deployed.map(({ name }) => name);

let dist: string;
beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'bamel-dist-'));
  await run(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist]);
}, 600_000);
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

test('the programs, the files that they read, and what installs the host are built', async () => {
  expect((await readdir(dist)).sort()).toEqual([
    '.dockerignore',
    'bamel.mjs',
    'cache',
    'chunks',
    'console',
    'deploy',
    'function.mjs',
    'host.mjs',
    'install-ha.yaml',
    'install.yaml',
    'main.mjs',
    'package.json',
    'proto',
    'sbom.cdx.json',
    'sensor',
    'warm.mjs',
  ]);
  await access(join(dist, 'sensor/index.mjs'));
});

test('all of it is small', async () => {
  const files = await readdir(dist, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  );
  expect(sizes.reduce((bytes, { size }) => bytes + size, 0)).toBeLessThan(60e6);
});

test('the image, func deploy and OpenFaaS start what was built', async () => {
  const { scripts } = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'));
  const image = await readFile(join(root, 'images/bamel.Dockerfile'), 'utf8');
  expect(scripts.start).toBe('node main.mjs');
  expect(image).toContain('ENTRYPOINT ["node", "/app/main.mjs"]');
  const template = await readFile(join(root, 'openfaas/template/bamel/Dockerfile'), 'utf8');
  expect(template).toContain('fprocess="node /app/main.mjs"');
});

test.each([
  [['bamel', 'version'], {}, /^bamel \d/],
  [['power-action', '--help'], {}, /--store/],
  [['--help'], { BAMEL_FUNCTION: 'power-action' }, /--store/],
  [['host', '--help'], { BAMEL_FUNCTION: 'power-action' }, /--speed/],
  [['--help'], {}, /--speed/],
])('main.mjs %j with %j', async (args, env, said) => {
  const { stdout } = await run(process.execPath, [join(dist, 'main.mjs'), ...args], { env });
  expect(stdout).toMatch(said);
});

test.each(['', 'sensor/'])('%ssbom.cdx.json lists what is bundled', async (folder) => {
  const { components } = JSON.parse(await readFile(join(dist, folder, 'sbom.cdx.json'), 'utf8'));
  const packages: string[] = components.map(({ name }: { name: string }) => name);
  // preact comes with the console.
  const expected = folder === '' ? ['@grpc/grpc-js', 'etcd3', 'preact', 'zod'] : ['zod'];
  expect(packages).toEqual(expect.arrayContaining(expected));
  expect(packages).not.toContain('jest');
});

test('what the build compiled is used, wherever the folder is moved to', async () => {
  const alone = await mkdtemp(join(tmpdir(), 'bamel-moved-'));
  try {
    await cp(dist, alone, { recursive: true });
    const { stderr } = await run(process.execPath, [join(alone, 'function.mjs'), 'power-action', '--help'], {
      env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      maxBuffer: 2 ** 24,
    });
    expect(stderr).toMatch(/V8 code cache for ESM \S*function\.mjs was accepted/);
    expect(stderr).not.toMatch(/was rejected/);
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
});

const isRoot = process.getuid?.() === 0;
const whyNot = isRoot ? '' : ' (skipped: only root may become another user)';
(isRoot ? test : test.skip)(
  `it runs as nobody, from a folder that it may not write to${whyNot}`,
  async () => {
    const alone = await mkdtemp(join(tmpdir(), 'bamel-nobody-'));
    try {
      await cp(dist, alone, { recursive: true });
      // Where the project is may be closed to others, and Node.js with it.
      const node = join(alone, 'node');
      await cp(process.execPath, node);
      await run('chmod', ['-R', 'a+rX,go-w', alone]);
      const child = spawn(node, ['function.mjs', 'power-action'], {
        cwd: alone,
        uid: 65532,
        gid: 65532,
        env: { PATH: alone, PORT: '0', LOG_FORMAT: 'json', BAMEL_STORE: 'embedded:' },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 25_000,
      });
      const ended = once(child, 'exit');
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          said += chunk;
        });
      const url = await eventually(() => {
        const found = /"url":"([^"]+)"/.exec(said)?.[1];
        if (found === undefined) throw new Error(`it does not listen: ${said}`);
        return found;
      });
      expect(await byHand(url)).toEqual({ status: 200, body: { machines: {} } });
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      await rm(alone, { recursive: true, force: true });
    }
  },
);

test('the Kubernetes client and etcd3 are loaded only when used', async () => {
  const { stderr } = await run(process.execPath, [join(dist, 'function.mjs'), 'power-action', '--help'], {
    env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    maxBuffer: 2 ** 24,
  });
  const loaded = new Set([...stderr.matchAll(/chunks\/([\w-]+\.mjs)/g)].map(([, file = '']) => file));
  const sizes = await Promise.all([...loaded].map((file) => stat(join(dist, 'chunks', file))));
  expect(loaded.size).toBeGreaterThan(1);
  expect(sizes.reduce((bytes, { size }) => bytes + size, 0)).toBeLessThan(3e6);
});

test.each(names)('%s serves from the folder alone and stops when told', async (name) => {
  bundle = await runBundle(dist, ['function.mjs', name], { BAMEL_STORE: 'embedded:' });
  expect((await fetch(`${bundle.url}/health/liveness`)).status).toBe(200);
  expect((await fetch(`${bundle.url}/health/readiness`)).status).toBe(200);
  expect(await bundle.stop()).toBe('0');
});

test('power-action answers by hand', async () => {
  bundle = await runBundle(dist, ['function.mjs', 'power-action'], { BAMEL_STORE: 'embedded:' });
  expect(await byHand(bundle.url)).toEqual({ status: 200, body: { machines: {} } });
});

test('the console brings its pages, and tells what its API means', async () => {
  bundle = await runBundle(dist, ['function.mjs', 'console'], { BAMEL_STORE: 'embedded:' });
  const { url } = bundle;
  for (const file of ['', 'console/main.js', 'console/main.css', 'console/icon.svg'])
    expect([file, (await fetch(`${url}/${file}`)).status]).toEqual([file, 200]);
  expect(await (await fetch(`${url}/openapi.json`)).text()).toContain('milliseconds since the epoch');
});

test('the host plays the demo: a pod waits, a machine is powered on', async () => {
  bundle = await runBundle(dist, ['host.mjs']);
  const { url } = bundle;
  await eventually(async () => expect((await fetch(`${url}/health/readiness`)).status).toBe(200));
  await eventually(() => expect(bundle?.lines.join()).toContain('power requested'));
  // The console that was built, not one made now: there is no bundler here.
  for (const file of ['', 'console/main.js', 'console/main.css', 'console/icon.svg'])
    expect([file, (await fetch(`${url}/${file}`)).status]).toEqual([file, 200]);
  expect(await bundle.stop()).toBe('0');
});

test('the command runs', async () => {
  const { stdout } = await run(process.execPath, [join(dist, 'bamel.mjs'), 'version']);
  expect(stdout).toMatch(/^bamel \d+\.\d+\.\d+ /);
});

describeWith(['etcd'], 'with etcd as its store', () => {
  let etcd: Etcd;
  let scene: Scene;
  beforeAll(async () => {
    etcd = await startEtcd();
    scene = await startScene();
  }, 120_000);
  afterAll(async () => {
    await scene?.close();
    await etcd?.close();
  });
  const storeUrl = () => `etcd://127.0.0.1:${etcd.members[0]?.port}`;

  test.each(['sync-inventory', 'evaluate-scaling', 'power-action', 'join-watcher', 'drain-node'])(
    '%s handles a tick',
    async (name) => {
      bundle = await runBundle(dist, ['function.mjs', name], { BAMEL_STORE: storeUrl(), ...scene.env });
      expect(await tick(bundle.url)).toBe(204);
      expect(await bundle.stop()).toBe('0');
    },
  );

  test('cluster-autoscaler answers from the folder alone, and finds the protocol files of etcd’s client', async () => {
    bundle = await runBundle(dist, ['function.mjs', 'cluster-autoscaler'], {
      BAMEL_STORE: storeUrl(),
      BAMEL_GRPC_PORT: '0',
    });
    const client = closing(callerOf(bundle.url));
    expect(await client.call('NodeGroups')).toHaveProperty('nodeGroups');
    expect(await bundle.stop()).toBe('0');
  });
});
