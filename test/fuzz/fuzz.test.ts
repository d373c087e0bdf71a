import { cases } from '../../tools/support/long.ts';
import { runCampaign } from './campaign.ts';
import { bodyMutations } from './mutations.ts';
import { createRandom } from './random.ts';
import { bytesOf } from './templates.ts';
import { authorized, startFuzzWorld, truth } from './world.ts';

const seed = Number(process.env.BAMEL_FUZZ_SEED ?? 20_261_116);
const requests = cases(3_000, 600);

let world: Awaited<ReturnType<typeof startFuzzWorld>>;
beforeAll(async () => {
  world = await startFuzzWorld();
}, 120_000);
afterAll(() => world?.close(), 60_000);

test(`${requests} damaged requests to every function and the API: no 5xx, and nothing decided or described has changed`, async () => {
  const before = await truth(world.store);
  expect(Object.keys(before)).toContain('/baremetal/nodes/mini-1/status');
  const { statuses, failures, perSecond } = await runCampaign({
    port: world.port,
    requests,
    seed,
    headers: authorized,
  });
  console.info(`seed ${seed}: ${requests} requests, ${perSecond} a second, ${JSON.stringify(statuses)}`);
  expect(failures).toEqual([]);
  // Most were answered: it did not only hang up on what was cut short.
  expect(statuses.closed ?? 0).toBeLessThan(requests / 5);
  expect(await truth(world.store)).toEqual(before);
  // It did get past the first checks: all these were reached.
  expect(Object.keys(statuses)).toEqual(
    expect.arrayContaining(['200', '204', '400', '401', '404', '405', '415', '422']),
  );
  expect((await fetch(`${world.host.url}/health/readiness`)).status).toBe(200);
}, 120_000);

test('fault 33: what is malformed is refused, and nothing at all is written', async () => {
  const random = createRandom(seed);
  const send = async (path: string, damage: keyof typeof bodyMutations) => {
    const body = Buffer.from('{"machine":"mini-1"}');
    const parts = { method: 'POST', path, headers: [], body, length: '' };
    bodyMutations[damage]?.(parts, random);
    const answer = await fetch(world.host.url + path, {
      method: 'POST',
      headers: { ...Object.fromEntries(authorized.slice(1)), 'content-type': 'application/json' },
      body: Buffer.from(bytesOf(parts).subarray(-parts.body.length)),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const { revision } = await world.store.list('/');
  for (const path of [
    '/evaluate-scaling',
    '/power-action',
    '/join-watcher',
    '/drain-node',
    '/sync-inventory',
  ])
    for (const damage of ['doubled', 'nested', 'badUtf8', 'many', 'wrongType'])
      expect([path, damage, await send(path, damage)]).toEqual([path, damage, 400]);
  expect((await world.store.list('/')).revision).toBe(revision);
}, 60_000);
