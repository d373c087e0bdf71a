import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { deployed } from '../../apps/host/deployed.ts';
import { events } from '../../shared/ports/event-types.ts';
import { freePorts } from '../../tools/real-stack/ports.ts';
import { type BuiltFolder, buildFolder } from '../../tools/support/build-folder.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { newFolder } from '../support/cleanup.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const read = (file: string): string =>
  readFileSync(new URL(`../../openfaas/${file}`, import.meta.url), 'utf8');

interface Stack {
  readonly functions: Readonly<
    Record<
      string,
      {
        readonly handler: string;
        readonly lang: string;
        readonly environment: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
        readonly readonly_root_filesystem: boolean;
      }
    >
  >;
}
/** Nobody listens there. */
const clusterThatIsAway = JSON.stringify({
  'current-context': 'away',
  contexts: [{ name: 'away', context: { cluster: 'away', user: 'away' } }],
  clusters: [{ name: 'away', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'away', user: {} }],
});

const { functions } = parse(read('stack.yaml')) as Stack;
const names = deployed.map(({ name }) => name);

test('stack.yaml has every function, ticked if a tick wakes it, and nothing else', () => {
  expect(Object.keys(functions)).toEqual(names);
  for (const { name, wakesOn } of deployed) {
    const one = functions[name];
    expect(one).toMatchObject({
      lang: 'bamel',
      handler: '../dist',
      environment: { BAMEL_FUNCTION: name },
      readonly_root_filesystem: true,
    });
    expect(one?.annotations.topic).toBe(wakesOn.includes(events.tick) ? 'cron-function' : undefined);
  }
});

describe('behind a stand-in for of-watchdog', () => {
  let built: BuiltFolder;
  const folder = newFolder();
  let kubeconfig: string;
  let watchdog: Watchdog | undefined;
  beforeAll(async () => {
    kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, clusterThatIsAway);
    built = await buildFolder();
  }, 400_000);
  afterAll(async () => {
    await built?.remove();
  });
  afterEach(async () => {
    await watchdog?.kill();
    watchdog = undefined;
  });

  async function start(name: string, options: { maxInflight?: number; execTimeoutMs?: number } = {}) {
    const [upstreamPort = 0] = await freePorts(1);
    const started = await startWatchdog({
      program: built.program('function'),
      upstreamPort,
      env: {
        BAMEL_FUNCTION: name,
        BAMEL_STORE: 'embedded:',
        // As the template's Dockerfile has them, but for the address: tests listen on loopback only.
        BAMEL_INSECURE: 'true',
        LOG_LEVEL: 'silent',
        KUBECONFIG: kubeconfig,
      },
      execTimeoutMs: options.execTimeoutMs ?? 60_000,
      maxInflight: options.maxInflight ?? Number(functions[name]?.environment.max_inflight),
      readyPath: '/health/readiness',
    });
    watchdog = started;
    await eventually(async () => expect((await fetch(`${started.url}/_/ready`)).status).toBe(200));
    return started;
  }
  /** As the cron-connector calls: no body, no CloudEvent. */
  const tick = (url: string) => fetch(url, { method: 'POST', headers: { 'x-topic': 'cron-function' } });

  test.each(names)('%s: ready, healthy, and gone when told', async (name) => {
    const { url, terminate } = await start(name);
    expect((await fetch(`${url}/_/health`)).status).toBe(200);
    expect(await terminate()).toBe(0);
  });

  test('a tick of the cron-connector is answered, with how long it took', async () => {
    const { url } = await start('power-action');
    const answer = await tick(url);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ machines: {} });
    expect(Number(answer.headers.get('x-duration-seconds'))).toBeGreaterThan(0);
  });

  test('too many at once are refused by the watchdog, one that lasts too long is cut off', async () => {
    // Without a cluster an evaluation waits for one.
    const { url } = await start('evaluate-scaling', { maxInflight: 1, execTimeoutMs: 1_500 });
    const [first, second] = await Promise.all([
      tick(url),
      new Promise<Response>((resolve) => setTimeout(() => resolve(tick(url)), 300)),
    ]);
    expect([first?.status, second?.status].sort()).toEqual([429, 504]);
  });

  test('what is under way when it is told to end is answered', async () => {
    // An evaluation that waits for its cluster, and ends with "later".
    const { url, terminate } = await start('evaluate-scaling');
    const underWay = tick(url);
    await eventually(async () =>
      expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/nodejs_active_requests|process_/),
    );
    const code = await terminate();
    expect((await underWay).status).toBe(503);
    expect(code).toBe(0);
  }, 60_000);
});
