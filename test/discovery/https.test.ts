import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { failureOf } from '../../shared/drivers/common/failure.ts';
import { httpRequest } from '../../shared/http/peer.ts';
import { readOffers } from '../../shared/state/offers.ts';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';
import { borrower, type Site, startSite } from './harness.ts';

describeWith(['openssl'], 'two clusters with certificates of their own', () => {
  const folder = newFolder();
  const authorityAt = (name: string) => makeAuthority(mkdtempSync(join(folder, name)));
  const north = authorityAt('north-');
  const other = authorityAt('other-');
  const keys = newSigningKey();
  const south = borrower('south');

  let lender: Site;
  let reader: Site;
  beforeAll(async () => {
    lender = await startSite({
      credentials: { 'offer-key': { privateKey: keys.privateKey } },
      serve: { tls: north.issueServer('north'), token: async () => 'let-me-in' },
    });
    await lender.set({
      clusterID: 'north',
      endpoint: `${lender.url}/discovery`,
      signingKey: 'offer-key',
      offers: [{ name: 'spare', resources: { cpu: 8, memory: '32Gi' } }],
      peers: [south.peer],
    });
    await lender.look();
    reader = await startSite({ credentials: { north: { token: 'let-me-in' } } });
  });
  afterAll(async () => {
    await lender?.[Symbol.asyncDispose]();
    await reader?.[Symbol.asyncDispose]();
  });

  const lookWith = async (tls?: { caFile?: string; fingerprint?: string }, credentials?: string) => {
    const source = { url: `${lender.url}/discovery`, tls, credentials };
    await reader.set({ trust: [{ clusterID: 'north', publicKey: keys.publicKey }], sources: [source] });
    return reader.look();
  };

  test.each([
    [
      'a certificate of somebody else',
      { caFile: other.cert },
      'north',
      /remote.sources.tls.caFile to the CA/,
    ],
    ['a certificate that nobody vouches for', undefined, 'north', /remote.sources.tls.caFile to the CA/],
    ['another fingerprint', { fingerprint: `sha256:${'00'.repeat(32)}` }, 'north', /not the pinned one/],
    ['no token', { caFile: north.cert }, undefined, /refused the credentials \(401\)/],
  ])('%s: nothing is taken, and why', async (_, tls, credentials, why) => {
    const { failed } = await lookWith(tls, credentials);
    expect(failed).toEqual([expect.stringMatching(why)]);
    expect(await readOffers(reader.store)).toEqual([]);
  });

  test('who knows the CA and the token reads the offers', async () => {
    expect(lender.url).toMatch(/^https:/);
    expect(await lookWith({ caFile: north.cert }, 'north')).toMatchObject({ taken: 1, failed: [] });
    expect(await readOffers(reader.store)).toMatchObject([
      { id: 'north.spare', latencyMs: expect.any(Number) },
    ]);
  });

  test('a peering needs no token: the signature is what counts', async () => {
    const { signal } = new AbortController();
    const send = async (path: string, body: object) => {
      const { status, text } = await httpRequest(
        {
          who: 'the provider',
          address: new URL(lender.url),
          tls: { caFile: north.cert },
          section: 'liqo',
          resolve: async () => '127.0.0.1',
          fail: failureOf({ name: 'north' }),
        },
        { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
        signal,
      );
      return { status, body: JSON.parse(text) };
    };
    const { body } = await send('/discovery/peering/nonce', { clusterID: 'south' });
    expect(await send('/discovery/peering', south.exchange(body.nonce))).toMatchObject({
      status: 200,
      body: { tenantNamespace: 'liqo-tenant-south' },
    });
  });
});
