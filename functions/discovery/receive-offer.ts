import type { Remote } from '../../shared/core/remote/remote-settings.ts';
import { offerId } from '../../shared/schema/offer.ts';
import { deleteOffer, type OfferWrite, writeOffer } from '../../shared/state/offers.ts';
import { writeAudit } from '../../shared/state/peering-audit.ts';
import { type OfferRefusal, verifyOffer } from '../../shared/state/sealed-offer.ts';
import { type OfferDeps, recordRefusal } from './record-refusal.ts';

/** Verifies an offer and stores it if it is acceptable. */
export async function receiveOffer(
  deps: OfferDeps,
  { trust }: Remote,
  given: unknown,
  { what, from, keptAs }: { what: 'offer' | 'publish'; from: string; keptAs: string },
): Promise<OfferWrite | OfferRefusal> {
  const { store } = deps.inventory;
  const now = deps.clock.now();
  const judged = verifyOffer(given, { trust, now });
  if ('sealed' in judged) {
    const written = await writeOffer(store, judged, { from: keptAs, now });
    if (written === 'new' && what === 'publish')
      await writeAudit(store, { at: now, what, who: judged.published.clusterID, from, result: 'accepted' });
    if (written !== 'older') return written;
    const refusal: OfferRefusal = {
      reason: 'older',
      why: `a later publication than ${judged.published.serial} is known`,
      published: judged.published,
    };
    await recordRefusal(deps, refusal, what, from);
    return refusal;
  }
  const { reason, published } = judged;
  // The provider has raised the price: its earlier offer no longer holds.
  if (reason === 'too-expensive' && published) await deleteOffer(store, offerId(published), published.serial);
  await recordRefusal(deps, judged, what, from);
  return judged;
}
