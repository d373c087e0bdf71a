import type { ConfigSource } from '../shared/adapters/files/config-source.ts';
import type { MachineSpec } from '../shared/core/machine/machine.ts';
import type { Provider, Settings } from '../shared/core/settings.ts';
import type { Orphans } from '../shared/drivers/index.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Cluster } from '../shared/ports/cluster.ts';
import type { EventSink } from '../shared/ports/events.ts';
import type { MetricsSource } from '../shared/ports/metrics.ts';
import type { DriverDeps, PowerDriver } from '../shared/ports/power.ts';
import type { Resources } from '../shared/ports/resources.ts';
import type { Lease } from '../shared/ports/store.ts';
import type { FailpointName } from '../shared/process/failpoints.ts';
import type { Log } from '../shared/process/log.ts';
import type { Metrics } from '../shared/process/metrics.ts';
import type { Inventory } from '../shared/state/inventory.ts';

/** All that the handlers need from outside, built in one place and passed in. */
export interface Deps {
  readonly inventory: Inventory;
  readonly cluster: Cluster;
  /** Our custom resources; absent: there are none to be looked for. */
  readonly resources?: Resources | undefined;
  /** The file or ConfigMap with pools and machines, where there is one. */
  readonly config?: ConfigSource | undefined;
  readonly driverFor: (spec: MachineSpec) => Promise<PowerDriver>;
  /** Objects of our own cluster by their path; absent where there is none. */
  readonly objects?: DriverDeps['objects'];
  /** The address to connect to, inside the allowed networks; absent where nobody is called. */
  readonly resolve?: DriverDeps['resolve'] | undefined;
  /** To notice that a Secret has changed; whoever has no drivers has none. */
  readonly credentials?: DriverDeps['credentials'] | undefined;
  /** Gives back what a provider of machines made on demand has, and nobody keeps a record of. */
  readonly releaseOrphans?:
    | ((
        pool: string,
        provider: Provider,
        isKnown: (machine: string) => boolean,
        signal: AbortSignal,
      ) => Promise<Orphans | undefined>)
    | undefined;
  /** Where triggers are asked for; absent: nowhere. */
  readonly metricsSource?: MetricsSource | undefined;
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts what is done; absent where nobody counts. */
  readonly metrics?: Metrics | undefined;
  readonly failpoint: (name: FailpointName) => void;
  /** Names this process in leases. */
  readonly owner: string;
  /** The node this process runs on: never emptied. */
  readonly ownNode?: string | undefined;
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
  { inventory, owner, clock, metrics }: Pick<Deps, 'inventory' | 'owner' | 'clock' | 'metrics'>,
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

/** The annotation on a node that we cordoned: the operation it was for. Nothing else is ever uncordoned. */
export const cordonedBy = 'bamel.dev/cordoned-by';

/** Only the holder touches a machine. The TTL outlives a BMC call that is begun late in a renewal. */
export function underMachineLease<Value>(
  deps: Pick<Deps, 'inventory' | 'owner' | 'clock' | 'metrics'>,
  machine: string,
  { timings }: Settings,
  leaseWait: LeaseWait,
  work: (lease: Lease) => Promise<Value>,
): Promise<Value | undefined> {
  return underLease(deps, `machine-${machine}`, 3 * timings.bmcTimeoutMs, leaseWait, work);
}

/** Whoever asks for a machine that this process is at already shares that work: it reads the state as it goes. */
export function singleFlight(
  work: (machine: string, signal: AbortSignal) => Promise<string>,
): (machine: string, signal: AbortSignal) => Promise<string> {
  const underWay = new Map<string, Promise<string>>();
  return (machine, signal) => {
    const shared = underWay.get(machine) ?? work(machine, signal).finally(() => underWay.delete(machine));
    underWay.set(machine, shared);
    return shared;
  };
}

/** Runs the work for every item, a few at a time. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
