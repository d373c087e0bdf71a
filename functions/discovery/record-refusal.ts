import { offerId } from '../../shared/schema/offer.ts';
import { writeAudit } from '../../shared/state/peering-audit.ts';
import type { OfferRefusal } from '../../shared/state/sealed-offer.ts';
import type { Deps } from '../deps.ts';

export type OfferDeps = Pick<Deps, 'inventory' | 'clock' | 'log' | 'metrics'>;

/** Counts, logs and audits a refused offer. */
export async function recordRefusal(
  { inventory, clock, log, metrics }: OfferDeps,
  { reason, why, published }: OfferRefusal,
  what: 'offer' | 'publish',
  from: string,
): Promise<void> {
  metrics?.offersRefused.inc({ reason });
  const offer = published && offerId(published);
  log.warn({ step: 'offers', offer, from, reason, why }, 'offer refused');
  const who = published?.clusterID ?? '?';
  await writeAudit(inventory.store, { at: clock.now(), what, who, from, result: reason, why });
}
