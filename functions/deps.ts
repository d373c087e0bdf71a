import type { ConfigSource } from '../shared/adapters/files/config-source.ts';
import type { MachineSpec } from '../shared/core/machine/machine.ts';
import type { Provider } from '../shared/core/settings.ts';
import type { Orphans } from '../shared/drivers/index.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Cluster } from '../shared/ports/cluster.ts';
import type { EventSink } from '../shared/ports/events.ts';
import type { MetricsSource } from '../shared/ports/metrics.ts';
import type { DriverDeps, PowerDriver } from '../shared/ports/power.ts';
import type { Resources } from '../shared/ports/resources.ts';
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
