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

/** Dependencies of the handlers, built in one place and passed in. */
export interface Deps {
  readonly inventory: Inventory;
  readonly cluster: Cluster;
  /** Our custom resources; absent: not used. */
  readonly resources?: Resources | undefined;
  /** The file or ConfigMap with pools and machines, where there is one. */
  readonly config?: ConfigSource | undefined;
  readonly driverFor: (spec: MachineSpec) => Promise<PowerDriver>;
  /** Objects of our own cluster by path; absent without a cluster. */
  readonly objects?: DriverDeps['objects'];
  /** Resolves an address inside the allowed networks; absent if the process makes no outgoing calls. */
  readonly resolve?: DriverDeps['resolve'] | undefined;
  /** Reads credentials, to detect a changed Secret; absent without drivers. */
  readonly credentials?: DriverDeps['credentials'] | undefined;
  /** Returns machines made on demand that no record describes. */
  readonly releaseOrphans?:
    | ((
        pool: string,
        provider: Provider,
        isKnown: (machine: string) => boolean,
        signal: AbortSignal,
      ) => Promise<Orphans | undefined>)
    | undefined;
  /** Source of trigger metrics; absent: none. */
  readonly metricsSource?: MetricsSource | undefined;
  readonly sink: EventSink;
  readonly clock: Clock;
  readonly log: Log;
  /** Metrics; absent: not counted. */
  readonly metrics?: Metrics | undefined;
  readonly failpoint: (name: FailpointName) => void;
  /** Names this process in leases. */
  readonly owner: string;
  /** The node this process runs on: never emptied. */
  readonly ownNode?: string | undefined;
}
