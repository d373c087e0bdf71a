import type { ApiRow } from '../../apps/api/routes.ts';
import type { Store } from '../../shared/ports/store.ts';
import { corePrice } from '../core/remote/offer.ts';
import { HttpError } from '../server/http-answer.ts';
import { readStoredOffers, type StoredOffer } from '../state/offers.ts';
import { readAudit } from '../state/peering-audit.ts';
import { OfferShape, type OfferView, PeeringShape, type PeeringView } from './offer-shapes.ts';

/** What is known of remote clusters, as people are shown it. */
export interface RemoteView {
  offers(): Promise<readonly OfferView[]>;
  peering(): Promise<readonly PeeringView[]>;
}

export const remoteView = (store: Store, now: () => number): RemoteView => ({
  offers: async () => (await readStoredOffers(store)).map((stored) => offerView(stored, now())),
  peering: () => readAudit(store),
});

function offerView(stored: StoredOffer, now: number): OfferView {
  const { offer, sealed, serial, receivedAt, from, latencyMs } = stored;
  const usable = now < offer.validUntil;
  return {
    ...offer,
    corePrice: corePrice(offer),
    labels: { ...offer.labels },
    taints: [...(offer.taints ?? [])],
    latencyMs,
    serial,
    publicKey: sealed.publicKey,
    receivedAt,
    from,
    usable,
    ...(!usable && { why: 'it has ended, and its provider has published no other' }),
  };
}

export const offerRows: readonly ApiRow[] = [
  {
    path: '/api/offers',
    summary: 'what remote clusters lend, as far as it was taken',
    shape: OfferShape,
    list: true,
    volatile: true,
    answer: ({ remote }) => remote.offers(),
  },
  {
    path: '/api/offers/{name}',
    summary: 'one offer, by the id of its provider, a dot and its name',
    shape: OfferShape,
    volatile: true,
    answer: async ({ remote, name }) => {
      const found = (await remote.offers()).find(({ id }) => id === name);
      if (!found) throw new HttpError(404, `there is no offer ${name}`);
      return found;
    },
  },
  {
    path: '/api/peering',
    summary:
      'who asked our discovery for what, what came of it, and the offers that were refused; the latest first',
    shape: PeeringShape,
    list: true,
    volatile: true,
    answer: ({ remote }) => remote.peering(),
  },
];
