import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { readAudit } from '../../shared/state/peering-audit.ts';
import { borrower, type Site, startSite } from './harness.ts';

const south = borrower('south');
const minute = 60_000;

let site: Site;
beforeEach(async () => {
  site = await startSite({ remote: { peers: [south.peer] } });
});
afterEach(() => site[Symbol.asyncDispose]());

const nonceFor = async (clusterID = 'south'): Promise<string> => {
  const { status, body } = await site.ask('POST', '/discovery/peering/nonce', { clusterID });
  expect({ status, body }).toMatchObject({ status: 200, body: { nonce: expect.any(String) } });
  return body.nonce as unknown as string;
};
const exchange = (given: object) => site.ask('POST', '/discovery/peering', given);
const results = async () =>
  (await readAudit(site.store)).map(({ what, who, result }) => `${what} ${who} ${result}`);
/** The next requests of the same caller are not counted with those before. */
const breathe = () => site.clock.pass(minute);

test('a nonce, and for its signature a certificate: once', async () => {
  const nonce = await nonceFor();
  const given = south.exchange(nonce);
  const { status, body } = await exchange(given);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      tenantNamespace: 'liqo-tenant-south',
      authParams: { apiServer: 'https://10.0.0.1:6443', ca: 'Y2E=', signedCRT: expect.any(String) },
    },
  });
  expect(site.liqo.made.get('/api/v1/namespaces/liqo-tenant-south')?.metadata.labels).toEqual({
    'liqo.io/remote-cluster-id': 'south',
    'liqo.io/tenant-namespace': 'true',
  });
  expect(site.liqo.tenant('south')?.spec).toEqual(given);
  expect(site.told).toEqual([expect.stringMatching(/^PeeringAccepted bamel: south at .* is a tenant$/)]);

  expect(await exchange(given)).toMatchObject({ status: 409, body: { reason: 'replayed' } });
  expect((await results()).sort()).toEqual([
    'exchange south accepted',
    'exchange south replayed',
    'nonce south accepted',
  ]);
  const outcomes = (await site.metrics.peeringRequests.get()).values.map(({ labels }) => labels);
  expect(outcomes).toContainEqual({ what: 'exchange', outcome: 'replayed' });
});

test('asked again, the same nonce is given; once used or old, another one', async () => {
  const first = await nonceFor();
  expect(await nonceFor()).toBe(first);
  expect((await exchange(south.exchange(first))).status).toBe(200);
  const second = await nonceFor();
  expect(second).not.toBe(first);
  // What was signed for the first is worth nothing now.
  expect(await exchange(south.exchange(first))).toMatchObject({
    status: 403,
    body: { reason: 'bad-signature' },
  });
  site.clock.pass(10 * minute);
  expect(await exchange(south.exchange(second))).toMatchObject({
    status: 410,
    body: { reason: 'expired-nonce' },
  });
  expect(await nonceFor()).not.toBe(second);
});

test('a peer that comes again gets a certificate that is new', async () => {
  const first = (await exchange(south.exchange(await nonceFor()))).body;
  const second = (await exchange(south.exchange(await nonceFor()))).body;
  expect(second).toMatchObject({ tenantNamespace: 'liqo-tenant-south' });
  expect(second.authParams).not.toEqual(first.authParams);
});

test('a peer with a new key is a new tenant; the old one ends', async () => {
  await exchange(south.exchange(await nonceFor()));
  const before = site.liqo.tenant('south');
  const renewed = borrower('south', newSigningKey());
  await site.set({ peers: [renewed.peer] });
  const given = renewed.exchange(await nonceFor());
  expect((await exchange(given)).status).toBe(200);
  expect(site.liqo.tenant('south')?.spec).toEqual(given);
  expect(site.liqo.tenant('south')?.status).not.toEqual(before?.status);
});

const stranger = borrower('stranger');
const thief = borrower('south');
type Case = [what: string, given: (nonce: string) => object, status: number, reason: string];
test.each<Case>([
  ['an unknown peer', (nonce) => stranger.exchange(nonce), 403, 'unknown-peer'],
  ['another key for a known name', (nonce) => thief.exchange(nonce), 403, 'wrong-key'],
  [
    'a signature of another key',
    (nonce) => ({ ...south.exchange(nonce), signature: thief.exchange(nonce).signature }),
    403,
    'bad-signature',
  ],
  ['a signature of something else', () => south.exchange('something else'), 403, 'bad-signature'],
  [
    'a request for another name',
    (nonce) => south.exchange(nonce, { commonName: 'admin' }),
    403,
    'bad-request',
  ],
  [
    'a request for a group',
    (nonce) => south.exchange(nonce, { organization: 'system:masters' }),
    403,
    'bad-request',
  ],
  [
    'a request for another key',
    (nonce) => ({ ...south.exchange(nonce), csr: thief.exchange(nonce).csr }),
    403,
    'bad-request',
  ],
])('%s is refused at once, with a reason', async (_, given, status, reason) => {
  const answer = await exchange(given(await nonceFor()));
  expect(answer).toMatchObject({ status, body: { reason, error: expect.stringMatching(/\w/) } });
  expect(site.liqo.tenant('south')).toBeUndefined();
  expect(await results()).toContainEqual(expect.stringMatching(new RegExp(`^exchange \\w+ ${reason}$`)));
  // And the peer itself is not held up by it.
  expect((await exchange(south.exchange(await nonceFor()))).status).toBe(200);
});

test('a peer is one until its time is over', async () => {
  const nonce = await nonceFor();
  await site.set({ peers: [{ ...south.peer, validUntil: new Date(site.clock.now() - 1).toISOString() }] });
  expect(await exchange(south.exchange(nonce))).toMatchObject({
    status: 403,
    body: { reason: 'expired-peer' },
  });
  expect(await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'south' })).toMatchObject({
    status: 403,
    body: { reason: 'expired-peer' },
  });
});

test('without a nonce there is no exchange', async () => {
  expect(await exchange(south.exchange('none'))).toMatchObject({ status: 410, body: { reason: 'no-nonce' } });
  expect(site.liqo.made.size).toBe(0);
});

test('a tenant that was drained by the provider’s people stays out', async () => {
  await exchange(south.exchange(await nonceFor()));
  await site.liqo.objects.patch(
    '/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-south/tenants/south',
    { spec: { tenantCondition: 'Drained' } },
    new AbortController().signal,
  );
  const answer = await exchange(south.exchange(await nonceFor()));
  expect(answer).toMatchObject({ status: 403, body: { reason: 'drained' } });
  expect(site.liqo.tenant('south')?.spec).toMatchObject({ tenantCondition: 'Drained' });
});

test('a namespace of that name that is somebody else’s is left alone', async () => {
  const path = '/api/v1/namespaces/liqo-tenant-south';
  site.liqo.made.set(path, { metadata: { name: 'liqo-tenant-south', labels: {} } });
  expect(await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'south' })).toMatchObject({
    status: 503,
    body: { reason: 'unavailable' },
  });
  expect([...site.liqo.made.keys()]).toEqual([path]);
});

test('Liqo that says nothing is waited for, not for ever; then the same may be sent again', async () => {
  site.liqo.silent.nonce = true;
  const late = await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'south' });
  expect(late).toMatchObject({ status: 503, body: { reason: 'unavailable' } });
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  site.liqo.silent.nonce = false;
  const given = south.exchange(await nonceFor());
  site.liqo.silent.tenant = true;
  expect(await exchange(given)).toMatchObject({ status: 503, body: { reason: 'unavailable' } });
  site.liqo.silent.tenant = false;
  expect((await exchange(given)).status).toBe(200);
});

test('what the API server says stays with the provider', async () => {
  site.liqo.fail = new PowerError('refused', 'secrets is forbidden: system:serviceaccount:bamel:bamel-host');
  const { status, body } = await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'south' });
  expect({ status, body }).toEqual({
    status: 503,
    body: { error: 'the provider cannot do that just now', reason: 'unavailable' },
  });
  expect(JSON.stringify(site.lines)).toContain('secrets is forbidden');
  expect(await readAudit(site.store)).toMatchObject([
    { result: 'unavailable', why: expect.stringContaining('forbidden') },
  ]);
});

test('too many requests of an address, and of a cluster, are put off', async () => {
  const statuses: number[] = [];
  for (let times = 0; times < 12; times += 1)
    statuses.push((await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'south' })).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
  expect(statuses.at(-1)).toBe(429);
  // Another cluster is not held up by it, until the address has used up its own.
  const others: number[] = [];
  for (let times = 0; times < 12; times += 1) {
    const answer = await site.ask('POST', '/discovery/peering/nonce', { clusterID: `c-${times}` });
    others.push(answer.status);
    if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(others[0]).toBe(403);
  expect(others).toContain(429);
  breathe();
  expect(await nonceFor()).toEqual(expect.any(String));
});

test.each<[what: string, body: unknown, headers: Record<string, string>, status: number]>([
  ['no JSON', 'hello', {}, 400],
  ['a field too many', { clusterID: 'south', kubeconfig: 'x' }, {}, 400],
  ['a path for a cluster', { clusterID: '../kube-system' }, {}, 400],
  ['what a form of a web page sends', '{"clusterID":"south"}', { 'content-type': 'text/plain' }, 415],
  ['far too much', { clusterID: 'x'.repeat(70_000) }, {}, 413],
])('%s is not a request', async (_, body, headers, status) => {
  expect((await site.ask('POST', '/discovery/peering/nonce', body, headers)).status).toBe(status);
  expect((await site.ask('POST', '/discovery/peering', body, headers)).status).toBe(status);
  expect(site.liqo.made.size).toBe(0);
  expect(await results()).toEqual([]);
});

test('the audit keeps who was let in, however often others are refused', async () => {
  await exchange(south.exchange(await nonceFor()));
  for (let times = 0; times < 150; times += 1) {
    breathe();
    await site.ask('POST', '/discovery/peering/nonce', { clusterID: `c-${times}` });
  }
  const kept = await readAudit(site.store);
  expect(kept.filter(({ result }) => result === 'unknown-peer')).toHaveLength(100);
  expect(await results()).toContain('exchange south accepted');
  breathe();
  await site.ask('POST', '/discovery/peering/nonce', { clusterID: 'c-149' });
  expect((await readAudit(site.store))[0]).toMatchObject({ who: 'c-149', times: 2 });
});
