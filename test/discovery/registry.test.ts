import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { readOffers } from '../../shared/state/offers.ts';
import { readAudit } from '../../shared/state/peering-audit.ts';
import { sealOffer } from '../../shared/state/sealed-offer.ts';
import type { Site } from './harness.ts';
import { idsOf, lending, minute, north, refusals, startSites, terms, trust } from './lending.ts';

const sites = startSites();
afterEach(() => sites.close());
const { start } = sites;

describe('a registry', () => {
  const open = { token: async () => 'let-me-in', readToken: async () => 'let-me-look' };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const about = (site: Site, serial: number) => ({
    clusterID: 'north',
    endpoint: 'https://127.0.0.1:1/discovery',
    validFrom: site.clock.now(),
    validUntil: site.clock.now() + minute,
    serial,
  });

  test('takes what its provider sends, and passes it on as it is', async () => {
    const registry = await start({ remote: { trust, openListing: true }, serve: open });
    const lender = await start({
      remote: lending({ publishTo: [{ url: `${registry.url}/discovery`, credentials: 'registry' }] }),
    });
    expect(await lender.look()).toMatchObject({ published: 1, failed: [] });
    const reader = await start({ remote: { trust, sources: [{ url: `${registry.url}/discovery` }] } });
    expect(await reader.look()).toMatchObject({ taken: 1, refused: 0, failed: [] });
    expect(await readAudit(registry.store)).toMatchObject([
      { what: 'publish', who: 'north', result: 'accepted' },
    ]);
  });

  test('nobody publishes without the token that may act', async () => {
    const registry = await start({ remote: { trust, openListing: true }, serve: open });
    const sealed = sealOffer(terms, about(registry, 1), north.privateKey);
    expect((await registry.ask('PUT', '/discovery/offers', sealed)).status).toBe(401);
    expect((await registry.ask('PUT', '/discovery/offers', sealed, bearer('let-me-look'))).status).toBe(403);
    expect(await idsOf(registry)).toEqual([]);
    expect((await registry.ask('PUT', '/discovery/offers', sealed, bearer('let-me-in'))).status).toBe(204);
    expect(await idsOf(registry)).toEqual(['north.spare']);
  });

  test('an older publication never replaces a newer one; the same twice is once', async () => {
    const registry = await start({ remote: { trust }, serve: open });
    const put = async (serial: number, more = {}) =>
      (
        await registry.ask(
          'PUT',
          '/discovery/offers',
          sealOffer({ ...terms, ...more }, about(registry, serial), north.privateKey),
          bearer('let-me-in'),
        )
      ).status;
    const sealed = sealOffer(terms, about(registry, 5), north.privateKey);
    const again = () => registry.ask('PUT', '/discovery/offers', sealed, bearer('let-me-in'));
    expect([(await again()).status, (await again()).status]).toEqual([204, 204]);
    expect(await put(4, { price: { cpu: 0.001 } })).toBe(409);
    expect(await put(5, { price: { cpu: 0.001 } })).toBe(409);
    expect((await readOffers(registry.store))[0]?.price).toEqual({ cpu: 0.02 });
    expect(await put(6, { price: { cpu: 0.03 } })).toBe(204);
    expect((await readOffers(registry.store))[0]?.price).toEqual({ cpu: 0.03 });
    expect(await refusals(registry)).toEqual({ older: 2 });
  });

  test('who is not trusted is refused with a reason', async () => {
    const registry = await start({ remote: { trust }, serve: open });
    const other = sealOffer(terms, about(registry, 1), newSigningKey().privateKey);
    expect(await registry.ask('PUT', '/discovery/offers', other, bearer('let-me-in'))).toMatchObject({
      status: 403,
      body: { reason: 'untrusted' },
    });
  });

  test('a listing is closed unless the settings say otherwise', async () => {
    const registry = await start({ remote: { trust }, serve: open });
    expect((await registry.ask('GET', '/discovery/offers')).status).toBe(401);
    expect((await registry.ask('GET', '/discovery/offers', undefined, bearer('let-me-look'))).status).toBe(
      200,
    );
    await registry.set({ trust, openListing: true });
    expect((await registry.ask('GET', '/discovery/offers')).status).toBe(200);
  });
});
