import { runCampaign } from '../fuzz/campaign.ts';
import { authorized, startFuzzWorld, truth } from '../fuzz/world.ts';

const seed = Number(process.env.BAMEL_FUZZ_SEED ?? 42);
const requests = 100_000;

let world: Awaited<ReturnType<typeof startFuzzWorld>>;
beforeAll(async () => {
  world = await startFuzzWorld();
}, 120_000);
afterAll(() => world?.close(), 60_000);

test(`${requests} damaged requests: no 5xx, no crash, and nothing decided or described has changed`, async () => {
  const before = await truth(world.store);
  const campaign = await runCampaign({ port: world.port, requests, seed, headers: authorized });
  const { statuses, failures, perSecond } = campaign;
  console.info(`seed ${seed}: ${requests} requests, ${perSecond} a second, ${JSON.stringify(statuses)}`);
  expect(failures).toEqual([]);
  expect(statuses.closed ?? 0).toBeLessThan(requests / 5);
  expect(await truth(world.store)).toEqual(before);
  expect((await fetch(`${world.host.url}/health/readiness`)).status).toBe(200);
}, 900_000);
