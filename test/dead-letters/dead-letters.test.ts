import { join } from 'node:path';
import { deadLetters } from '../../functions/dead-letters/handler.ts';
import type { Deps } from '../../functions/deps.ts';
import { functionTable } from '../../functions/index.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { served } from '../../shared/server/function.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';
import { createDeadLetters, type StoredDeadLetter } from '../../shared/state/dead-letters.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { runBamel } from '../cli/run-bamel.ts';
import { newFolder } from '../support/cleanup.ts';

let folder: string;
let address: string;
let store: Store;
let running: RunningServer;
let sent: BamelEvent[];
const metrics = createMetrics();
beforeEach(async () => {
  folder = newFolder();
  address = `embedded:${join(folder, 'store.db')}`;
  store = await openStore(address);
  sent = [];
  const log = createLog({ level: 'silent', format: 'json' });
  const deps = {
    inventory: createInventory(store, realClock),
    clock: realClock,
    log,
    sink: { emit: async (event: BamelEvent) => void sent.push(event) },
  } as unknown as Deps;
  const definition = functionTable.find((one) => one.definition.name === 'dead-letters')?.definition;
  if (!definition) throw new Error('dead-letters is not in the table');
  running = await serve([served(definition, deadLetters(deps) as never)], {
    host: '127.0.0.1',
    port: 0,
    log,
    metrics,
  });
});
afterEach(async () => {
  await running.close();
  await store.close();
});

/** As a broker sends what a subscriber refused. */
async function giveUp(type: string, more: Record<string, string> = {}): Promise<number> {
  const answer = await fetch(running.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': 'ev-1',
      'ce-source': '/bamel/test',
      'ce-type': type,
      'ce-subject': 'm-1',
      'ce-knativeerrorcode': '422',
      'ce-knativeerrordata': Buffer.from('{"error":"there is no machine called m-1"}').toString('base64'),
      'ce-knativeerrordest': 'http://broker-filter.knative-eventing.svc/triggers/bamel/power-action/uid-1',
      ...more,
    },
    body: '{"machine":"m-1"}',
  });
  return answer.status;
}

const byHand = async (body: object) => {
  const answer = await fetch(running.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
};

test('what a broker gave up on is kept: the event, for whom it was, and why', async () => {
  expect(await giveUp('dev.bamel.power.requested')).toBe(204);
  expect(await createDeadLetters(store).list()).toEqual([
    {
      id: expect.stringMatching(/^dead-/),
      event: { type: 'dev.bamel.power.requested', subject: 'm-1', data: { machine: 'm-1' } },
      function: 'power-action',
      lastError: 'it answered 422: there is no machine called m-1',
      at: expect.any(Number),
    },
  ]);
});

test('through the filter of a broker the reason comes wrapped', async () => {
  const errresponsebody = Buffer.from('{"error":"machin: unknown field"}').toString('base64');
  const wrapped = JSON.stringify({ errdestination: 'http://127.0.0.1/', errresponsebody });
  await giveUp('a.b', { 'ce-knativeerrordata': Buffer.from(wrapped).toString('base64') });
  expect(await createDeadLetters(store).list()).toMatchObject([
    { lastError: 'it answered 422: machin: unknown field' },
  ]);
});

test.each([
  ['a type that wakes nobody', 'com.example.anything', {}, 'power-action'],
  ['straight from a channel', 'a.b', { 'ce-knativeerrordest': 'http://drain-node.bamel.svc/' }, 'drain-node'],
  ['without a destination', 'a.b', { 'ce-knativeerrordest': 'x' }, 'unknown'],
])('any event is taken: %s', async (_what, type, more, to) => {
  expect(await giveUp(type, more)).toBe(204);
  expect(await createDeadLetters(store).list()).toMatchObject([{ event: { type }, function: to }]);
});

test('types of senders do not become labels of metrics', async () => {
  await giveUp('com.example.one');
  await giveUp('com.example.two');
  const { values } = await metrics.invocations.get();
  expect(new Set(values.map(({ labels }) => labels.trigger))).toEqual(new Set(['any']));
});

test('by hand: listed, sent again, forgotten', async () => {
  await giveUp('dev.bamel.power.requested');
  const { body } = await byHand({});
  const [letter] = (body as { deadLetters: StoredDeadLetter[] }).deadLetters;
  expect(await byHand({ replay: ['dead-0'] })).toMatchObject({ status: 422 });
  expect(sent).toEqual([]);
  expect(await byHand({ replay: [letter?.id] })).toEqual({ status: 200, body: { replayed: [letter?.id] } });
  expect(sent).toEqual([letter?.event]);
  expect((await byHand({})).body).toEqual({ deadLetters: [] });
});

test('bamel deadletters: list and replay through the host of an embedded store', async () => {
  await giveUp('dev.bamel.power.requested');
  const env = { BAMEL_STORE: address, BAMEL_URL: running.url };
  const listed = await runBamel(['deadletters', 'list'], env);
  expect(listed.stdout).toMatch(
    /^dead-\w+ {2}20\S+ {2}dev\.bamel\.power\.requested {2}m-1 {2}to power-action: it answered 422: there/,
  );
  const replayed = await runBamel(['deadletters', 'replay', '--all'], env);
  expect(replayed).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^dead-\w+ sent again\n$/),
  });
  expect(sent).toHaveLength(1);
  expect((await runBamel(['deadletters', 'list'], env)).stdout).toBe('there are none\n');
});

test.each([
  ['no verb', ['deadletters'], /list or replay\?/],
  ['replay of nothing', ['deadletters', 'replay'], /which ones\?/],
])('a mistake is told: %s', async (_what, args, message) => {
  const ran = await runBamel(args, { BAMEL_STORE: address });
  expect(ran.stderr).toMatch(message);
  expect(ran.code).toBe(2);
});
