import type { Offer } from '../core/remote/offer.ts';
import type { TrustedProvider } from '../core/remote/remote-settings.ts';
import type { Store } from '../ports/store.ts';
import type { SealedOffer } from '../schema/offer.ts';
import { toOffer } from '../schema/offer.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';
import { type VerifiedOffer, verifyOffer } from './sealed-offer.ts';

/** An offer as it stands in the store. */
export interface StoredOffer {
  readonly offer: Offer;
  readonly sealed: SealedOffer;
  readonly serial: number;
  readonly receivedAt: number;
  /** The URL of the listing it was read from; `published`: its provider sent it to us. */
  readonly from: string;
  readonly latencyMs?: number | undefined;
}

/** The provider sent the offer to us: it is part of our listing. */
export const pushed = 'published';

/** Expired offers are shown for this long. */
const graceMs = 3_600_000;

const maxTries = 5;

/** All stored offers, including recently expired ones. */
export async function readOffers(store: Store): Promise<Offer[]> {
  return (await readStoredOffers(store)).map(({ offer, latencyMs }) => ({ ...offer, latencyMs }));
}

export async function readStoredOffers(store: Store): Promise<StoredOffer[]> {
  const { entries } = await store.list(keys.offers);
  return entries.map(({ key, value }) => decode<StoredOffer>(key, value));
}

/** `older`: a later publication, or another one with the same serial, is stored. */
export type OfferWrite = 'new' | 'known' | 'older';

/** Stores an offer unless a later one is stored. */
export async function writeOffer(
  store: Store,
  { published, sealed }: VerifiedOffer,
  { from, now }: { readonly from: string; readonly now: number },
): Promise<OfferWrite> {
  const offer = toOffer(published);
  const key = keys.offer(offer.id);
  for (let tries = 1; ; tries += 1) {
    const entry = await store.get(key);
    const before = entry && decode<StoredOffer>(key, entry.value);
    if (before && published.serial <= before.serial)
      return before.sealed.payload === sealed.payload ? 'known' : 'older';
    const stored: StoredOffer = {
      offer,
      sealed,
      serial: published.serial,
      receivedAt: now,
      // An offer that was sent to us stays in our listing, even if another listing has it too.
      from: before?.from === pushed ? pushed : from,
      latencyMs: before?.latencyMs,
    };
    const { committed } = await store.commit(
      [{ key, revision: entry?.revision ?? 0 }],
      [{ put: key, value: encode(stored) }],
    );
    if (committed || tries === maxTries) return 'new';
  }
}

/** Saves the latency of each provider, where it changed by more than 20 %. */
export async function saveLatencies(store: Store, latencies: ReadonlyMap<string, number>): Promise<void> {
  const { entries } = await store.list(keys.offers);
  for (const { key, value, revision } of entries) {
    const stored = decode<StoredOffer>(key, value);
    const latencyMs = latencies.get(stored.offer.endpoint);
    if (latencyMs === undefined || isSimilar(stored.latencyMs, latencyMs)) continue;
    // A concurrent write wins: the next refresh measures again.
    await store.commit([{ key, revision }], [{ put: key, value: encode({ ...stored, latencyMs }) }]);
  }
}

const isSimilar = (before: number | undefined, now: number): boolean =>
  before !== undefined && Math.abs(before - now) <= Math.max(2, before / 5);

/** Deletes an offer unless its serial is later than `serial`. */
export async function deleteOffer(store: Store, id: string, serial: number): Promise<void> {
  const entry = await store.get(keys.offer(id));
  if (!entry || decode<StoredOffer>(entry.key, entry.value).serial > serial) return;
  await store.commit([{ key: entry.key, revision: entry.revision }], [{ delete: entry.key }]);
}

/** Deletes offers that expired long ago and offers that are no longer acceptable. Returns the rest. */
export async function pruneOffers(
  store: Store,
  trust: readonly TrustedProvider[],
  now: number,
): Promise<StoredOffer[]> {
  const { entries } = await store.list(keys.offers);
  const left: StoredOffer[] = [];
  for (const { key, value, revision } of entries) {
    const stored = decode<StoredOffer>(key, value);
    const ended = now >= stored.offer.validUntil;
    const judged = verifyOffer(stored.sealed, { trust, now });
    const keep = ended ? isKept(judged, stored, now) : 'sealed' in judged;
    if (keep) left.push(stored);
    else await store.commit([{ key, revision }], [{ delete: key }]);
  }
  return left;
}

const isKept = (judged: ReturnType<typeof verifyOffer>, { offer }: StoredOffer, now: number): boolean =>
  'reason' in judged && judged.reason === 'expired' && now < offer.validUntil + graceMs;
