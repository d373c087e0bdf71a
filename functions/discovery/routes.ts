import { z } from 'zod';
import { ClusterID, PublicKey, SealedOffer } from '../../shared/schema/offer.ts';
import { HttpError } from '../../shared/server/http-response.ts';
import { jsonBody } from '../../shared/server/json-body.ts';
import { createRateLimit } from '../../shared/server/rate-limit.ts';
import type { Route } from '../../shared/server/routes.ts';
import { readDiscovery } from '../../shared/state/discovery-state.ts';
import { pushed, readStoredOffers } from '../../shared/state/offers.ts';
import type { Deps } from '../deps.ts';
import { createPeering } from './peering.ts';
import { PeeringError } from './peering-error.ts';
import { receiveOffer } from './receive-offer.ts';

const body = { bytes: 64 * 1_024, timeoutMs: 10_000 };

/** A peering needs two requests, and is rare. */
const perAddress = { perSecond: 5, burst: 20 };
const perCluster = { perSecond: 0.5, burst: 10 };

const base64 = z
  .string()
  .min(1)
  .max(8_192)
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64');
const NonceInput = z.strictObject({ clusterID: ClusterID });
const ExchangeInput = z.strictObject({
  clusterID: ClusterID,
  publicKey: PublicKey,
  csr: base64,
  signature: base64,
});

/** The routes for other clusters: our listing, and the peering exchange. */
export function discoveryRoutes(deps: Deps): Route[] {
  const { inventory, clock, metrics, log } = deps;
  const { store } = inventory;
  const peering = createPeering(deps);
  const monotonic = () => clock.monotonic();
  const limits = {
    address: createRateLimit(perAddress, monotonic),
    cluster: createRateLimit(perCluster, monotonic),
  };
  const addressOf = ({ request }: Parameters<Route['respond']>[0]): string =>
    request.socket.remoteAddress ?? 'unknown';
  const checkRate = (kind: keyof typeof limits, caller: string): void => {
    const seconds = limits[kind](caller);
    if (seconds === undefined) return;
    metrics?.peeringRequests.inc({ what: kind, outcome: 'too-many' });
    log.debug({ step: 'peering', kind, caller }, 'too many requests to discovery');
    throw new PeeringError('too-many', `too many requests of this ${kind}: wait ${seconds} s`, seconds);
  };

  return [
    {
      method: 'GET',
      path: '/discovery/offers',
      open: async () => (await inventory.settings()).remote.openListing,
      async respond(context) {
        checkRate('address', addressOf(context));
        return { status: 200, json: { offers: await listing() } };
      },
    },
    {
      method: 'PUT',
      path: '/discovery/offers',
      async respond(context) {
        const from = addressOf(context);
        checkRate('address', from);
        const sealed = await jsonBody(context, SealedOffer, body);
        const { remote } = await inventory.settings();
        const result = await receiveOffer(deps, remote, sealed, { what: 'publish', from, keptAs: pushed });
        if (typeof result !== 'string')
          throw new HttpError(
            result.reason === 'older' ? 409 : 403,
            `the offer is not taken: ${result.why}`,
            {
              reason: result.reason,
            },
          );
        return { status: 204 };
      },
    },
    {
      method: 'POST',
      path: '/discovery/peering/nonce',
      open: true,
      async respond(context) {
        const address = addressOf(context);
        checkRate('address', address);
        const { clusterID } = await jsonBody(context, NonceInput, body);
        checkRate('cluster', clusterID);
        return { status: 200, json: await peering.nonce(clusterID, { address, signal: context.signal }) };
      },
    },
    {
      method: 'POST',
      path: '/discovery/peering',
      open: true,
      async respond(context) {
        const address = addressOf(context);
        checkRate('address', address);
        const given = await jsonBody(context, ExchangeInput, body);
        checkRate('cluster', given.clusterID);
        return { status: 200, json: await peering.exchange(given, { address, signal: context.signal }) };
      },
    },
  ];

  /** Our own offers, and those that were sent to us. */
  async function listing(): Promise<SealedOffer[]> {
    const now = clock.now();
    const [{ published }, stored] = await Promise.all([readDiscovery(store), readStoredOffers(store)]);
    const passedOn = stored.filter(({ from, offer }) => from === pushed && now < offer.validUntil);
    return [...published.filter(({ validUntil }) => now < validUntil), ...passedOn].map(
      ({ sealed }) => sealed,
    );
  }
}
