import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';

const main = fileURLToPath(new URL('../../functions/main.ts', import.meta.url));
const lines: string[] = [];
let child: ChildProcess;
beforeAll(() => {
  child = spawn(process.execPath, [main, '--port', '0', '--speed', '40', '--log-format', 'json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface(stream).on('line', (line) => lines.push(line));
});
afterAll(async () => {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
});

const said = () => lines.join('\n');
const get = async (path: string) => {
  const url = /"url":"([^"]+)"/.exec(said())?.[1];
  if (url === undefined) throw new Error(`it does not listen: ${said()}`);
  return fetch(`${url}${path}`);
};

test('without a config the day is played, and its console says what is going on', async () => {
  const about = await eventually(async () => {
    const body = (await (await get('/api/about')).json()) as { caption?: string };
    expect(body.caption).toMatch(/^\d\d:\d\d – /);
    return body;
  }, 60_000);
  expect(about).toMatchObject({ dryRun: false, cluster: true });
  const pools = (await (await get('/api/pools')).json()) as { items: { name: string; machines: number }[] };
  expect(pools.items.map(({ name, machines }) => [name, machines])).toEqual([
    ['batch', 5],
    ['gpu', 3],
    ['web', 8],
  ]);
  const page = await get('/');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test('the machine whose BMC breaks is quarantined, and others serve the rush', async () => {
  await eventually(() => expect(said()).toMatch(/quarantined: power is still off/), 110_000);
  await eventually(async () => {
    const { items } = (await (await get('/api/machines')).json()) as {
      items: { name: string; state: string }[];
    };
    const serving = items.filter(({ name, state }) => name.startsWith('mini-') && state === 'ready');
    expect(serving.length).toBeGreaterThan(1);
  }, 60_000);
}, 180_000);
