import { createHash } from 'node:crypto';
import { latencyOf, publishOffer, readListing } from '../../shared/adapters/remote-discovery/client.ts';
import type { Remote } from '../../shared/core/remote/remote-settings.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { forEachConcurrently } from '../../shared/process/concurrency.ts';
import { type DiscoveryState, readDiscovery, writeDiscovery } from '../../shared/state/discovery-state.ts';
import { pruneOffers, readStoredOffers, saveLatencies } from '../../shared/state/offers.ts';
import { sealOffer } from '../../shared/state/sealed-offer.ts';
import type { Deps } from '../deps.ts';
import { receiveOffer } from './receive-offer.ts';

export type RefreshDeps = Pick<
  Deps,
  'inventory' | 'clock' | 'log' | 'metrics' | 'resolve' | 'credentials' | 'owner'
>;

/** The result of a refresh. */
export interface RefreshResult {
  readonly taken: number;
  readonly refused: number;
  readonly published: number;
  readonly failed: readonly string[];
}

const atOnce = 8;
/** Validity of our offers in publications: two may get lost. */
const validFor = 3;

/**
 * Publishes our offers and reads those of others, if the interval has passed or the settings have changed.
 */
export async function refresh(
  deps: RefreshDeps,
  remote: Remote,
  lease: Lease,
  signal: AbortSignal,
  force: boolean,
): Promise<RefreshResult | undefined> {
  const { store } = deps.inventory;
  const state = await readDiscovery(store);
  const now = deps.clock.now();
  const settings = createHash('sha256').update(JSON.stringify(remote)).digest('hex');
  const isDue = settings !== state.settings || Math.abs(now - state.at) >= remote.refreshEveryMs;
  if (!isDue && !force) return undefined;
  const failed: string[] = [];
  const failing = (what: string, where: string) => (error: Error) => {
    failed.push(`${where}: ${error.message}`);
    deps.log.warn({ step: 'offers', what, where, err: error }, 'discovery of another cluster failed');
  };

  const next: DiscoveryState = {
    at: now,
    settings,
    ...(await signOffers(deps, remote, state, now).catch((error: Error) => {
      failing('sign', 'remote.signingKey')(error);
      return { serial: state.serial, published: [] };
    })),
  };
  // Stored before it is sent: a published serial is never used again.
  if (!(await writeDiscovery(store, next, lease))) return undefined;
  await forEachConcurrently(remote.publishTo, atOnce, async (registry) => {
    for (const { sealed } of next.published)
      await publishOffer(deps, registry, sealed, signal).catch(failing('publish', registry.url));
  });

  let taken = 0;
  let refused = 0;
  await forEachConcurrently(remote.sources, atOnce, async (source) => {
    const offers = await readListing(deps, source, signal).catch(failing('read', source.url));
    for (const given of offers ?? []) {
      const result = await receiveOffer(deps, remote, given, {
        what: 'offer',
        from: source.url,
        keptAs: source.url,
      });
      if (typeof result === 'string') taken += 1;
      else refused += 1;
    }
  });
  await measureLatencies(deps, signal);
  return { taken, refused, published: next.published.length, failed };
}

/** Signs our own offers. */
async function signOffers(
  { credentials }: RefreshDeps,
  { offers, clusterID, endpoint, signingKey, refreshEveryMs }: Remote,
  before: DiscoveryState,
  now: number,
): Promise<Pick<DiscoveryState, 'serial' | 'published'>> {
  if (offers.length === 0 || !clusterID || !endpoint || !signingKey)
    return { serial: before.serial, published: [] };
  const { privateKey } = (await credentials?.(signingKey)) ?? {};
  if (privateKey === undefined)
    throw new Error(`the credentials ${signingKey} have no privateKey: bamel offers keygen makes one`);
  // Increases even if the clock was set back.
  const serial = Math.max(now, before.serial + 1);
  const validUntil = now + validFor * refreshEveryMs;
  const about = { clusterID, endpoint, validFrom: now, validUntil, serial };
  return {
    serial,
    published: offers.map((terms) => ({ sealed: sealOffer(terms, about, privateKey), validUntil })),
  };
}

/** Measures the latency of each provider. */
async function measureLatencies(deps: RefreshDeps, signal: AbortSignal): Promise<void> {
  const { store } = deps.inventory;
  const endpoints = new Set((await readStoredOffers(store)).map(({ offer }) => offer.endpoint));
  const latencies = new Map<string, number>();
  await forEachConcurrently([...endpoints], atOnce, async (endpoint) => {
    const ms = await latencyOf(deps, endpoint, signal);
    if (ms !== undefined) latencies.set(endpoint, ms);
  });
  await saveLatencies(store, latencies);
}

/** Deletes expired and no longer acceptable offers, and counts the rest. */
export async function pruneExpired(
  { inventory, clock, metrics }: RefreshDeps,
  { trust }: Remote,
): Promise<number> {
  const now = clock.now();
  const left = await pruneOffers(inventory.store, trust, now);
  const usable = left.filter(({ offer }) => now < offer.validUntil).length;
  metrics?.offers.set({ state: 'usable' }, usable);
  metrics?.offers.set({ state: 'expired' }, left.length - usable);
  return usable;
}
