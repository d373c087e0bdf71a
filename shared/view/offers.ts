import type { Store } from '../../shared/ports/store.ts';
import { corePrice } from '../core/remote/offer.ts';
import { readStoredOffers, type StoredOffer } from '../state/offers.ts';
import { readAudit } from '../state/peering-audit.ts';
import type { OfferView, PeeringView } from './offer-shapes.ts';

/** Remote clusters, as shown to people. */
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
