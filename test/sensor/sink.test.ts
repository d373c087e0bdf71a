import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { serverOptionsOf } from '../../apps/host/serve-options.ts';
import { createSend } from '../../sensor/sink.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { events } from '../../shared/ports/event-types.ts';
import { realClock } from '../../shared/process/clock.ts';
import { readSettings } from '../../shared/process/settings.ts';
import type { RunningServer } from '../../shared/server/serve.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { memoryLog, post, recorder, serving, structured } from '../runtime/harness.ts';
import { closing, newFolder } from '../support/cleanup.ts';
import { report } from './report.ts';

const folder = newFolder();
beforeAll(async () => {
  await writeFile(join(folder, 'act'), 'act\n');
  await writeFile(join(folder, 'tell'), 'tell\n');
});

const { calls, served } = recorder({
  name: 'evaluate-scaling',
  wakesOn: [events.pressureChanged, events.tick],
  input: z.looseObject({}),
});
const other = recorder({ name: 'dead-letters', takesAnyEvent: true, input: z.looseObject({}) });
beforeEach(() => void calls.splice(0));

/** A host with a secret for those who act, and one for sensors. */
async function hosting(body: (host: RunningServer) => Promise<void>): Promise<void> {
  const files = ['--token-file', join(folder, 'act'), '--pressure-token-file', join(folder, 'tell')];
  const read = readSettings(files, {});
  if (!('settings' in read)) throw new Error('help was asked for');
  const store = await openStore('embedded:');
  const inventory = createInventory(store, realClock);
  const door = serverOptionsOf(
    read.settings,
    { inventory, clock: realClock, log: memoryLog().log },
    kubeTransport({}),
  );
  try {
    await serving([served, other.served], { ...door.doorway, port: 0 }, body);
  } finally {
    await door.close();
    await store.close();
  }
}

test('a report is a CloudEvent that evaluate-scaling takes, with the token of sensors; the same one again is a double', async () => {
  await hosting(async ({ url }) => {
    const send = createSend({ url: `${url}/evaluate-scaling`, tokenFile: join(folder, 'tell') });
    await send(report({ sequence: 7 }));
    await send(report({ sequence: 7 }));
    await send(report({ sequence: 8 }));
  });
  expect(calls.map(({ input }) => input)).toEqual([
    { pressure: report({ sequence: 7 }) },
    { pressure: report({ sequence: 8 }) },
  ]);
  expect(calls[0]?.invocation.event?.attributes).toMatchObject({
    type: 'dev.bamel.pressure.changed',
    id: 'n1-7',
    source: '/bamel/sensor/n1',
    subject: 'n1/cpu',
  });
});

const event = (type: string = events.pressureChanged) => ({
  'ce-specversion': '1.0',
  'ce-id': 'e-1',
  'ce-source': '/bamel/sensor/n1',
  'ce-type': type,
});
const enveloped = { 'content-type': 'application/cloudevents+json' };

test.each<[string, string, string, Record<string, string>]>([
  ['another event', '/evaluate-scaling', '{}', event(events.tick)],
  [
    'another event in an envelope',
    '/evaluate-scaling',
    JSON.stringify(structured({ type: events.tick })),
    enveloped,
  ],
  [
    'another event in an envelope that is said to be pressure',
    '/evaluate-scaling',
    JSON.stringify(structured({ type: events.tick })),
    { ...event(), ...enveloped },
  ],
  ['by hand', '/evaluate-scaling', '{}', {}],
  ['pressure, elsewhere', '/dead-letters', '{}', event()],
])('the token of sensors is refused for %s', async (_what, path, body, headers) => {
  await hosting(async ({ url }) => {
    const answer = await post(url + path, body, { ...headers, authorization: 'Bearer tell' });
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining('may only send events of type dev.bamel.pressure.changed'),
    ]);
    const look = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer tell', ...event() } });
    expect(look.status).toBe(403);
  });
  expect([...calls, ...other.calls]).toEqual([]);
});

test('a secret for sensors alone does not say who may act', async () => {
  const reporters = { token: async () => 'tell', accounts: [], event: events.pressureChanged, paths: ['/'] };
  await expect(serving([], { reporters }, async () => undefined)).rejects.toThrow(
    'set BAMEL_TOKEN_FILE as well',
  );
});

test('of accounts, sensors may tell of pressure only, and are sensors even if they are callers too', async () => {
  const sensor = 'system:serviceaccount:bamel-sensor:bamel-sensor';
  const reporters = { accounts: [sensor], event: events.pressureChanged, paths: ['/evaluate-scaling'] };
  const review = async (token: string) => (token === 'sensor' ? sensor : 'system:serviceaccount:bamel:other');
  await serving([served], { review, reporters }, async ({ url }) => {
    const status = async (token: string, headers: Record<string, string>) =>
      (await post(`${url}/evaluate-scaling`, '{}', { ...headers, authorization: `Bearer ${token}` })).status;
    expect([await status('sensor', event()), await status('sensor', event(events.tick))]).toEqual([204, 403]);
    expect([await status('another', event()), await status('another', {})]).toEqual([204, 200]);
  });
});

test('what is refused, and what is never answered, is told', async () => {
  await hosting(async ({ url }) => {
    await expect(createSend({ url })(report())).rejects.toThrow(/answered 401: check K_SINK/);
  });
  const silent = closing(createServer().listen(0, '127.0.0.1'));
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const send = createSend({ url: `http://127.0.0.1:${port}/`, timeoutMs: 50 });
  await expect(send(report())).rejects.toThrow('no answer within 0.05 s');
  silent.close();
  await expect(createSend({ url: `http://127.0.0.1:${port}/` })(report())).rejects.toThrow('ECONNREFUSED');
});
