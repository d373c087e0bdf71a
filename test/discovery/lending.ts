import { newSigningKey } from '../../shared/crypto/ed25519.ts';
import { readOffers } from '../../shared/state/offers.ts';
import { type RemoteInput, type Site, startSite } from './harness.ts';

export const minute = 60_000;
export const north = newSigningKey();
export const trust = [{ clusterID: 'north', publicKey: north.publicKey }];
export const terms = {
  name: 'spare',
  class: 'default',
  resources: { cpu: 8, memory: '32Gi' },
  price: { cpu: 0.02 },
};
const credentials = {
  'offer-key': { privateKey: north.privateKey },
  registry: { token: 'let-me-in' },
};

/** The settings of a cluster that lends a little. */
export const lending = (more: RemoteInput = {}): RemoteInput => ({
  clusterID: 'north',
  endpoint: 'https://127.0.0.1:1/discovery',
  signingKey: 'offer-key',
  openListing: true,
  offers: [terms],
  ...more,
});

/** Clusters that end with the test. */
export function startSites() {
  const sites: Site[] = [];
  return {
    async start(...[options]: Parameters<typeof startSite>): Promise<Site> {
      const site = await startSite({ credentials, ...options });
      sites.push(site);
      return site;
    },
    async close(): Promise<void> {
      for (const site of sites.splice(0)) await site[Symbol.asyncDispose]();
    },
  };
}

export const idsOf = async ({ store }: Site): Promise<string[]> =>
  (await readOffers(store)).map(({ id }) => id);

export const refusals = async ({ metrics }: Site) =>
  Object.fromEntries(
    (await metrics.offersRefused.get()).values.map(({ labels, value }) => [labels.reason, value]),
  );
