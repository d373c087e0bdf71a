import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deployed } from '../../functions/deployed.ts';
import { callerOf } from '../cluster-autoscaler/client.ts';
import { type Etcd, startEtcd } from '../real/stack/etcd.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { copyBundle, type RunningBundle, runBundle } from './run-bundle.ts';
import { type Scene, startScene, tick, withoutLargePackages } from './scene.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const names = deployed.map(({ name }) => name);

let dist: string;
let printed: string;
beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'bamel-dist-'));
  ({ stdout: printed } = await run(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist]));
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

test('every function has its main.ts and its bundle, and no bundle is of something else', async () => {
  for (const name of names) await access(join(root, 'functions', name, 'main.ts'));
  expect((await readdir(join(dist, 'functions'))).sort()).toEqual(['cluster-autoscaler', ...names].sort());
  expect((await readdir(dist)).sort()).toEqual([
    'bamel',
    'functions',
    'host',
    'install-ha.yaml',
    'install.yaml',
    'sensor',
  ]);
  for (const folder of [...names.map((name) => `functions/${name}`), 'host', 'bamel', 'sensor']) {
    await access(join(dist, folder, 'index.mjs'));
    expect(printed).toMatch(new RegExp(`^${folder} +\\d+\\.\\d MB at start, \\d+\\.\\d MB when used$`, 'm'));
  }
});

test('a function has all that an image needs, and what func deploy looks for', async () => {
  const project = join(dist, 'functions/power-action');
  for (const file of ['start', 'function', 'index.mjs', 'main.cjs', 'func.yaml', 'proto/rpc.proto'])
    await access(join(project, file));
  const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  expect(scripts).toEqual({ start: 'node index.mjs' });
  // Large, and not what it starts.
  expect(await readFile(join(project, '.funcignore'), 'utf8')).toContain('/function\n');
  const dockerfile = await readFile(join(root, 'images/function.Dockerfile'), 'utf8');
  const [command] = JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]');
  await access(join(project, command), constants.X_OK);
});

test('what the build compiled is used, wherever the folder is moved to', async () => {
  const alone = await mkdtemp(join(tmpdir(), 'bamel-moved-'));
  try {
    await copyBundle(join(dist, 'functions/power-action'), alone);
    const { stderr } = await run(process.execPath, [join(alone, 'index.mjs'), '--help'], {
      env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      maxBuffer: 2 ** 24,
    });
    expect(stderr).toMatch(/V8 code cache for CommonJS \S*main\.cjs was accepted/);
    expect(stderr).not.toMatch(/was rejected/);
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
});

test('an image starts from the snapshot, which knows nothing of where and when it was made', async () => {
  const alone = await mkdtemp(join(tmpdir(), 'bamel-snapshot-'));
  try {
    await copyBundle(join(dist, 'functions/power-action'), alone);
    // All of it is in the snapshot: nothing else is read.
    await rm(join(alone, 'main.cjs'));
    const before = Math.floor(Date.now() / 1000);
    bundle = await runBundle(alone, { BAMEL_STORE: 'embedded:' });
    expect(await byHand(bundle.url)).toEqual({ status: 200, body: { machines: {} } });
    const metrics = await (await fetch(`${bundle.url}/metrics`)).text();
    const [, started] = /^bamel_process_start_time_seconds\S* (\d+)$/m.exec(metrics) ?? [];
    expect(Number(started)).toBeGreaterThanOrEqual(before);
    expect(await bundle.stop()).toBe('0');
  } finally {
    await rm(alone, { recursive: true, force: true });
  }
});

test('whom the API server let in while the snapshot was made is a stranger to the process', async () => {
  const folder = join(dist, 'functions/drain-node');
  const { event, audience } = createRequire(import.meta.url)(join(folder, 'stage.cjs'));
  const env = { BAMEL_STORE: 'embedded:', BAMEL_TOKEN_AUDIENCE: audience, KUBECONFIG: '/nowhere' };
  bundle = await runBundle(folder, env);
  const answer = await fetch(bundle.url, event);
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ error: 'callers cannot be checked just now' }),
  ]);
});

test('time passes in a process that was started from a snapshot: half a body is not waited for', async () => {
  const halfABody = async (folder: string): Promise<number | undefined> => {
    const running = await runBundle(folder, { BAMEL_STORE: 'embedded:' });
    try {
      const sending = request(running.url, { method: 'POST', headers: { 'content-length': 10 } });
      sending.on('error', () => undefined).write('{');
      const [response] = await once(sending, 'response');
      return response.statusCode;
    } finally {
      await running.remove();
    }
  };
  const woken = deployed.filter(({ forPeople }) => !forPeople);
  const statuses = await Promise.all(woken.map(({ name }) => halfABody(join(dist, 'functions', name))));
  expect(statuses).toEqual(woken.map(() => 408));
}, 120_000);

test('no snapshot is made with random numbers in it that all its processes would share', async () => {
  const alone = await mkdtemp(join(tmpdir(), 'bamel-drawn-'));
  try {
    await cp(join(dist, 'functions/drain-node'), alone, { recursive: true });
    const main = await readFile(join(alone, 'main.cjs'), 'utf8');
    // Of these Node.js keeps a supply.
    await writeFile(join(alone, 'main.cjs'), main.replaceAll('.randomBytes)(', '.randomUUID)('));
    await expect(run(process.execPath, ['warm.mjs'], { cwd: alone })).rejects.toThrow('use randomBytes');
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
      await copyBundle(join(dist, 'functions/power-action'), alone);
      // Where the project is may be closed to others, and Node.js with it.
      const node = join(alone, 'node');
      await cp(process.execPath, node);
      await run('chmod', ['-R', 'a+rX,go-w', alone]);
      const child = spawn(join(alone, 'start'), {
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

test('the console brings its pages, and tells what its API means', async () => {
  bundle = await runBundle(join(dist, 'functions/console'), { BAMEL_STORE: 'embedded:' });
  const { url } = bundle;
  for (const file of ['', 'console/main.js', 'console/main.css', 'console/icon.svg'])
    expect([file, (await fetch(`${url}/${file}`)).status]).toEqual([file, 200]);
  // Bundles of functions are made without descriptions of fields.
  expect(await (await fetch(`${url}/openapi.json`)).text()).toContain('milliseconds since the epoch');
});

test('the host plays the demo: a pod waits, a machine is powered on', async () => {
  bundle = await runBundle(join(dist, 'host'));
  const { url } = bundle;
  await eventually(async () => expect((await fetch(`${url}/health/readiness`)).status).toBe(200));
  await eventually(() => expect(bundle?.lines.join()).toContain('power requested'));
  // The console that was built, not one made now: there is no bundler here.
  for (const file of ['', 'console/main.js', 'console/main.css', 'console/icon.svg'])
    expect([file, (await fetch(`${url}/${file}`)).status]).toEqual([file, 200]);
  expect(await bundle.stop()).toBe('0');
});

test('the command runs', async () => {
  const { stdout } = await run(process.execPath, [join(dist, 'bamel/index.mjs'), 'version']);
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
    '%s handles a tick without the Kubernetes client and gRPC, which are too large to be loaded for it',
    async (name) => {
      const light = await withoutLargePackages(join(dist, 'functions', name));
      try {
        bundle = await runBundle(light, { BAMEL_STORE: storeUrl(), ...scene.env });
        expect(await tick(bundle.url)).toBe(204);
        expect(await bundle.stop()).toBe('0');
      } finally {
        await rm(light, { recursive: true, force: true });
      }
    },
  );

  test('cluster-autoscaler answers from its folder alone, and finds the protocol files of etcd’s client', async () => {
    bundle = await runBundle(join(dist, 'functions/cluster-autoscaler'), {
      BAMEL_STORE: storeUrl(),
      BAMEL_GRPC_PORT: '0',
    });
    const client = callerOf(bundle.url);
    try {
      expect(await client.call('NodeGroups')).toHaveProperty('nodeGroups');
    } finally {
      client.close();
    }
    expect(await bundle.stop()).toBe('0');
  });
});
