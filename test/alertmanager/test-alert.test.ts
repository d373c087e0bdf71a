import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { type Reason, textOf } from '../../shared/core/reasons/reason.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { newFolder } from '../support/cleanup.ts';
import { fixture } from './payload.ts';

const folder = newFolder();
let store: string;
beforeAll(async () => {
  store = `embedded:${join(folder, 'store.db')}`;
  const opened = await openStore(store);
  await loadInventory(opened, { schemaVersion: 'v1alpha1', pools: [{ name: 'workers' }], machines: [] });
  await opened.close();
});

async function run(...args: string[]): Promise<{ code: number; text: string }> {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const code = await runCli(['test-alert', '--store', store, ...args], {
    stdout: stream,
    stderr: stream,
    env: {},
  });
  return { code, text };
}

const revision = async (): Promise<number> => {
  const opened = await openStore(store);
  const before = (await opened.list('/')).revision;
  await opened.close();
  return before;
};

const unlabelled: Reason = { code: 'only-wakes', because: { code: 'no-scale-label' } as Reason };
const steered: Reason = { code: 'steered-by-label', label: 'pool', pool: 'workers' };

test('says which pools a webhook would steer and why, and writes nothing', async () => {
  const before = await revision();
  const file = join(folder, 'payload.json');
  await writeFile(file, JSON.stringify(fixture('0.33-firing')));
  expect(await run('-f', file)).toEqual({
    code: 0,
    text:
      `alert NodePoolPressure (firing) steers no pool: ${textOf(unlabelled)}.\n` +
      '  An evaluation begins at once, and decides as it would at the next tick.\n',
  });
  expect(await run('-f', file, '--label', 'bamel_scale=up')).toEqual({
    code: 0,
    text:
      `alert NodePoolPressure (firing) steers pool workers: ${textOf(steered)}.\n` +
      '  An evaluation begins at once: one more machine of pool workers is powered on if there is one, and none leaves while it fires.\n',
  });
  expect(await revision()).toBe(before);
});

test('of one that is over it says that nothing leaves because of it', async () => {
  const file = join(folder, 'resolved.json');
  const { alerts, ...rest } = fixture('0.25-resolved') as { alerts: object[] };
  await writeFile(file, JSON.stringify({ ...rest, alerts: alerts.slice(0, 1) }));
  const { text } = await run('-f', file, '--label', 'bamel_scale=up', '--label', 'bamel_pool=workers');
  expect(text).toMatch(
    /\(resolved\) steers pool workers: .*\n {2}It is over: .* keeps those it has for unneededFor\.\n$/,
  );
});

test('labels alone will do', async () => {
  const { code, text } = await run(
    '--label',
    'alertname=Mine',
    '--label',
    'bamel_scale=up',
    '--label',
    'pool=none',
  );
  expect(code).toBe(0);
  expect(text).toContain('alert Mine (firing) steers no pool: bamel_scale is up, but there is no pool none');
});

test.each<[string, string[], string]>([
  ['nothing to try', [], 'which alert? Give -f FILE'],
  ['no label', ['--label', 'bamel_scale'], '--label bamel_scale: write NAME=VALUE'],
])('%s is told', async (_what, args, message) => {
  const { code, text } = await run(...args);
  expect(code).toBe(2);
  expect(text).toContain(message);
});

test('a file that is no webhook is told, with the field', async () => {
  const file = join(folder, 'wrong.json');
  await writeFile(file, '{');
  expect(await run('-f', file)).toMatchObject({ code: 2, text: expect.stringContaining('is not JSON') });
  await writeFile(file, JSON.stringify({ version: '4', alerts: [{ status: 'firing' }] }));
  expect(await run('-f', file)).toMatchObject({
    code: 2,
    text: expect.stringContaining('alerts[0].labels'),
  });
});
