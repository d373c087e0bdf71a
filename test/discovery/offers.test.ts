import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOffers } from '../../shared/state/offers.ts';
import { readAudit } from '../../shared/state/peering-audit.ts';
import type { RemoteInput, Site } from './harness.ts';
import { idsOf, lending, minute, north, refusals, startSites, terms, trust } from './lending.ts';

const sites = startSites();
afterEach(() => sites.close());
const { start } = sites;

/** Somebody who lends, and somebody who reads its listing. */
async function pair(provider: RemoteInput = {}, consumer: RemoteInput = {}) {
  const lender = await start({ remote: lending(provider) });
  await lender.set(lending({ endpoint: `${lender.url}/discovery`, ...provider }));
  await lender.look();
  const reader = await start({
    remote: { trust, sources: [{ url: `${lender.url}/discovery` }], ...consumer },
  });
  return { lender, reader };
}
const states = async ({ metrics }: Site) =>
  Object.fromEntries((await metrics.offers.get()).values.map(({ labels, value }) => [labels.state, value]));

test('what one publishes, the other reads, checks and keeps, with how far away it is', async () => {
  const { lender, reader } = await pair();
  expect(await reader.look()).toMatchObject({ taken: 1, refused: 0, failed: [], offers: 1 });
  expect(await readOffers(reader.store)).toEqual([
    {
      id: 'north.spare',
      provider: 'north',
      class: 'default',
      resources: { cpu: 8_000, memory: 32 * 2 ** 30 },
      price: { cpu: 0.02 },
      validUntil: expect.any(Number),
      endpoint: `${lender.url}/discovery`,
      latencyMs: expect.any(Number),
    },
  ]);
  expect(await states(reader)).toEqual({ usable: 1, expired: 0 });
});

test('it is read again when it is time to, and an offer that is not renewed ends', async () => {
  const { lender, reader } = await pair();
  await reader.look();
  const [first] = await readOffers(reader.store);
  lender.clock.pass(minute);
  reader.clock.pass(minute);
  await lender.look();
  await reader.look();
  const [renewed] = await readOffers(reader.store);
  expect(renewed?.validUntil).toBeGreaterThanOrEqual((first?.validUntil ?? 0) + minute);
  // The provider is silent from now on: shown as expired for an hour, then forgotten.
  await lender.set(lending({ offers: [] }));
  await lender.look();
  reader.clock.pass(3 * minute);
  await reader.look();
  expect(await states(reader)).toEqual({ usable: 0, expired: 1 });
  reader.clock.pass(60 * minute);
  await reader.look();
  expect(await idsOf(reader)).toEqual([]);
});

test('a tick looks only when it is time to', async () => {
  const { reader } = await pair();
  const tick = (id: number) =>
    reader.ask(
      'POST',
      '/discovery',
      {},
      { 'ce-specversion': '1.0', 'ce-type': 'dev.bamel.tick.due', 'ce-source': '/t', 'ce-id': `${id}` },
    );
  expect((await tick(1)).status).toBe(204);
  const { revision } = await reader.store.list('/baremetal/global/discovery');
  const stateOf = async () => (await reader.store.get('/baremetal/global/discovery'))?.revision;
  const before = await stateOf();
  expect(revision).toBeGreaterThan(0);
  await tick(2);
  expect(await stateOf()).toBe(before);
  reader.clock.pass(minute);
  await tick(3);
  expect(await stateOf()).not.toBe(before);
});

test('whom nobody trusts any more loses its place at once', async () => {
  const { reader } = await pair();
  await reader.look();
  expect(await idsOf(reader)).toEqual(['north.spare']);
  await reader.set({ trust: [] });
  await reader.look();
  expect(await idsOf(reader)).toEqual([]);
});

test('an offer that became too expensive is withdrawn, not kept at its old price', async () => {
  const { lender, reader } = await pair(
    {},
    { trust: [{ ...(trust[0] ?? { clusterID: '', publicKey: '' }), maxPrice: 0.05 }] },
  );
  await reader.look();
  expect(await idsOf(reader)).toEqual(['north.spare']);
  await lender.set(
    lending({ endpoint: `${lender.url}/discovery`, offers: [{ ...terms, price: { cpu: 0.06 } }] }),
  );
  await lender.look();
  expect(await reader.look()).toMatchObject({ taken: 0, refused: 1 });
  expect(await idsOf(reader)).toEqual([]);
  expect(await refusals(reader)).toEqual({ 'too-expensive': 1 });
  expect(await readAudit(reader.store)).toMatchObject([
    { what: 'offer', who: 'north', result: 'too-expensive', why: expect.stringContaining('0.06') },
  ]);
});

test('a listing that is away, closed or none fails, and the others are still read', async () => {
  const { lender, reader } = await pair();
  const closed = await start({
    remote: lending({ openListing: false }),
    serve: { token: async () => 'let-me-in' },
  });
  const sources = [
    { url: 'http://127.0.0.1:1/discovery' },
    { url: `${closed.url}/discovery` },
    { url: `${lender.url}/health` },
    { url: `${lender.url}/discovery` },
  ];
  await reader.set({ trust, sources });
  const { failed, taken } = await reader.look();
  expect(taken).toBe(1);
  expect(failed).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^http:\/\/127.0.0.1:1\/discovery: .*ECONNREFUSED/),
      expect.stringMatching(/refused the credentials \(401\).*remote.sources.credentials/),
      expect.stringMatching(/\/health: .*404/),
    ]),
  );
  expect(failed).toHaveLength(3);
  await reader.set({ trust, sources: [{ url: `${closed.url}/discovery`, credentials: 'registry' }] });
  expect(await reader.look()).toMatchObject({ failed: [] });
});

test('a listing that is far too long, or never ends, is not read on and on', async () => {
  const stop = new AbortController();
  const answers: Record<string, RequestListener> = {
    '/many/offers': (_, response) => response.end(JSON.stringify({ offers: Array(1_001).fill({}) })),
    '/long/offers': (_, response) => response.end(' '.repeat(1_000_001)),
    // Whoever tells us to stop is obeyed, whatever we wait for.
    '/silent/offers': () => stop.abort(),
  };
  const server = createServer((request, response) => answers[request.url ?? '']?.(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sources = Object.keys(answers).map((path) => ({
    url: `http://127.0.0.1:${port}${path.replace('/offers', '')}`,
  }));
  const reader = await start({ remote: { trust, sources: sources.slice(0, 2) } });
  expect(await reader.look()).toMatchObject({
    taken: 0,
    failed: expect.arrayContaining([
      expect.stringMatching(/many: .*listing is not as expected \(offers: Too big/),
      expect.stringMatching(/long: .*answers more than 1000000 bytes/),
    ]),
  });
  await reader.set({ trust, sources: sources.slice(2) });
  expect(await reader.look(stop.signal)).toMatchObject({
    failed: [expect.stringMatching(/silent: .*did not answer in time/)],
  });
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

test('a key that is none, or that is not there, is told and nothing is published', async () => {
  const lender = await start({ remote: lending({ signingKey: 'registry' }) });
  expect(await lender.look()).toMatchObject({
    published: 0,
    failed: [expect.stringMatching(/credentials registry have no privateKey: bamel offers keygen/)],
  });
});

test('numbers grow, also where the clock was put back', async () => {
  const { lender, reader } = await pair();
  await reader.look();
  lender.clock.putBack(10_000);
  await lender.look();
  expect(await reader.look()).toMatchObject({ taken: 1, refused: 0 });
});

test('nothing that is shown, logged or kept holds a credential', async () => {
  const registry = await start({
    remote: { trust, openListing: true },
    serve: { token: async () => 'let-me-in' },
  });
  const lender = await start({
    remote: lending({ publishTo: [{ url: `${registry.url}/discovery`, credentials: 'registry' }] }),
  });
  await lender.look();
  const listing = await lender.ask('GET', '/discovery/offers');
  expect(listing.body).toEqual({ offers: [expect.anything()] });
  const kept = async ({ store, lines }: Site) => JSON.stringify([(await store.list('/')).entries, lines]);
  const everything = JSON.stringify(listing.body) + (await kept(lender)) + (await kept(registry));
  expect(everything).toContain(north.publicKey);
  const inside = north.privateKey.split('\n')[1] ?? '';
  expect(inside).toHaveLength(64);
  for (const canary of [inside, 'let-me-in', 'PRIVATE KEY']) expect(everything).not.toContain(canary);
});
