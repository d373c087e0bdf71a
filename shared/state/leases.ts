import type { Settings } from '../core/settings.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lease } from '../ports/store.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Inventory } from './inventory.ts';

export interface LeaseDeps {
  readonly inventory: Inventory;
  readonly clock: Clock;
  /** Names this process in leases. */
  readonly owner: string;
  readonly metrics?: Metrics | undefined;
}

/** How long to wait for another holder of a lease, and what ends the wait early. */
export interface LeaseWait {
  readonly ms: number;
  readonly signal?: AbortSignal;
}

/** How often somebody who waits for a lease asks for it. */
const retryEveryMs = 250;

/**
 * Runs the work under a lease, which is given back whatever happens; undefined when another holder outlasts
 * the patience. Waiting, rather than leaving it to the next tick, replaces a holder that died as soon as its
 * lease is over.
 */
export async function underLease<Value>(
  { inventory, owner, clock, metrics }: LeaseDeps,
  name: string,
  ttlMs: number,
  leaseWait: LeaseWait,
  work: (lease: Lease) => Promise<Value>,
): Promise<Value | undefined> {
  const until = clock.now() + leaseWait.ms;
  const countContention = (outcome: 'got' | 'gave-up'): void =>
    // Leases of machines count together: there are as many as machines.
    metrics?.leaseContention.inc({ lease: name.startsWith('machine-') ? 'machine' : name, outcome });
  const first = await inventory.store.acquire(name, ttlMs, owner);
  let lease = first;
  while (!lease) {
    if (clock.now() >= until || leaseWait.signal?.aborted) {
      countContention('gave-up');
      return undefined;
    }
    await clock.sleep(retryEveryMs, leaseWait.signal);
    lease = await inventory.store.acquire(name, ttlMs, owner);
  }
  if (!first) countContention('got');
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

/** Only the holder touches a machine. The TTL outlives a BMC call that is begun late in a renewal. */
export function underMachineLease<Value>(
  deps: LeaseDeps,
  machine: string,
  { timings }: Settings,
  leaseWait: LeaseWait,
  work: (lease: Lease) => Promise<Value>,
): Promise<Value | undefined> {
  return underLease(deps, `machine-${machine}`, 3 * timings.bmcTimeoutMs, leaseWait, work);
}
