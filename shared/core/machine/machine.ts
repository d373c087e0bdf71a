import type { Taint } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';

import { initialState, type MachineState } from './lifecycle.ts';

/** What people say about a machine. `name` is its id everywhere. */
export interface MachineSpec {
  readonly name: string;
  readonly pool: string;
  readonly powerInterface: string;
  readonly mgmtAddress?: string | undefined;
  readonly macAddress?: string | undefined;
  /** Names a Secret or a file of credentials; never the credentials themselves. */
  readonly bmcCredentials?: string | undefined;
  /** The driver's own options, checked by that driver's schema. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Names what the machine boots from the network, once, when it is powered on. */
  readonly bootProfile?: string | undefined;
  readonly rack?: string | undefined;
  /** The lowest unit that it takes, counted from the bottom, and how many it takes. */
  readonly rackUnit?: number | undefined;
  readonly rackHeight?: number | undefined;
  readonly zone?: string | undefined;
  readonly powerCircuit?: string | undefined;
  readonly resources: Resources;
  readonly watts?: { readonly idle: number; readonly max: number } | undefined;
  /** What an hour of it costs, and an hour of a pod on it, in whatever money the owner counts in. */
  readonly pricing?:
    | { readonly hourlyRate?: number | undefined; readonly podRate?: number | undefined }
    | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
  /** By hand: stays on, or stays off, whatever the demand. */
  readonly powerState?: 'on' | 'off' | undefined;
  readonly maintenance?: boolean | undefined;
  /** What a machine made on demand has beyond its resources, in bytes: its system takes that much. */
  readonly memoryOverhead?: number | undefined;
  /** Made on demand from its pool's template: when it is off it is given back, and its record goes. */
  readonly made?: boolean | undefined;
  /** A slice of a remote cluster: the id of the offer that it was taken from. */
  readonly offer?: string | undefined;
  readonly systemUUID?: string | undefined;
  /** As its BMC reports it. */
  readonly serialNumber?: string | undefined;
  readonly providerID?: string | undefined;
}

export type Power = 'on' | 'off' | 'unknown';

/** The status of a machine. Times are milliseconds since the epoch. */
export interface MachineStatus {
  readonly state: MachineState;
  readonly stateSince: number;
  readonly powerState: Power;
  readonly bmcReachable?: boolean | undefined;
  readonly kubernetesNode?: string | undefined;
  readonly nodeReady?: boolean | undefined;
  /** What gave its node away. */
  readonly matchedBy?: 'providerID' | 'systemUUID' | 'macAddress' | 'name' | undefined;
  /** Of its node: what others, such as the Cluster Autoscaler, know it by. */
  readonly providerID?: string | undefined;
  /** Since when the node of a serving machine has been NotReady or gone; absent while it is Ready. */
  readonly unreadySince?: number | undefined;
  /** What does not add up between this machine and the nodes, or why nothing is done about its node. */
  readonly nodeProblem?: string | undefined;
  /** Of the boot that last joined: a node that shows it again has not been restarted. */
  readonly bootID?: string | undefined;
  /** The operation under way: at most one, set and cleared in the same transaction as the state. */
  readonly operation?: string | undefined;
  readonly lastError?:
    | { readonly code: ErrorCode; readonly message: string; readonly at: number }
    | undefined;
  readonly lastPowerAction?: PowerVerb | undefined;
  readonly powerActionTime?: number | undefined;
  /** An off command without an observed effect: it may still take effect. */
  readonly pendingOff?: { readonly verb: PowerVerb; readonly at: number } | undefined;
  readonly bootTime?: number | undefined;
  readonly joinTime?: number | undefined;
  /** Failures in a row since the machine last served. */
  readonly attempts: number;
  readonly retryAt?: number | undefined;
  /** When it last became Ready after we had powered it on: only such a machine is powered off unasked. */
  readonly provenAt?: number | undefined;
  /** Only its node shows its power (a driver without status). */
  readonly blind?: boolean | undefined;
  /** What powerState says follows from what its node does: no proof. */
  readonly powerInferred?: boolean | undefined;
  /** Its driver knows no way to power it off. */
  readonly cannotPowerOff?: boolean | undefined;
  /** Its BMC refused the credentials: left alone until then, or until its spec is another revision. */
  readonly refused?: { readonly until: number; readonly spec: number; readonly message: string } | undefined;
  readonly learnedBootMs?: number | undefined;
  /** When a person last dealt with it: what its hardware log said before is no reason any more. */
  readonly acknowledgedAt?: number | undefined;
  readonly drain?: Drain | undefined;
  /** Made on demand: when it was last given less than was asked for. */
  readonly shortGrantAt?: number | undefined;
  /** A person put it into maintenance without changing its description, until they end it. */
  readonly setAside?: { readonly by: string; readonly at: number } | undefined;
}

/** How far the emptying of a node has come. */
export interface Drain {
  readonly podsLeft: number;
  readonly podsTotal: number;
  /** What holds it up, in words. */
  readonly waitingFor?: string | undefined;
  /** Since when no pod is left: volumes may still be attached. */
  readonly emptySince?: number | undefined;
}

export type ErrorCode =
  | 'power-on-failed'
  | 'power-off-failed'
  | 'never-joined'
  | 'lost-power'
  | 'node-lost'
  | 'unhealthy';

export type PowerVerb = 'on' | 'soft-off' | 'hard-off';

/** Data of a machine besides its status: written by evaluations and by checks of its BMC. */
export interface MachineMetrics {
  /** Since when no pod needs the node; absent while one does. */
  readonly idleSince?: number | undefined;
  /** What the pods on its node request; absent while it does not serve. */
  readonly utilization?: Utilization | undefined;
  /** What its BMC measured, as of `at`; not written again while it stays about the same. */
  readonly watts?: number | undefined;
  readonly celsius?: number | undefined;
  readonly health?: Health | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly at?: number | undefined;
  /** Of the log that its BMC keeps; absent until it was read. */
  readonly log?: KnownLog | undefined;
}

/** Shares of what a node can allocate, from 0 to 1, as of `at`; not written again while they stay about the same. */
export interface Utilization {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
  readonly at: number;
}

export type Health = 'ok' | 'warning' | 'critical' | 'unknown';

export interface Machine {
  readonly spec: MachineSpec;
  readonly status: MachineStatus;
  readonly metrics: MachineMetrics;
}

/** A machine that was never read: its BMC will report its actual state. */
export function newStatus(now: number): MachineStatus {
  return { state: initialState, stateSince: now, powerState: 'unknown', attempts: 0 };
}

/** The state of a log: the position it was read to, and the entries that still hold. */
export interface KnownLog {
  readonly last?: string | undefined;
  readonly critical: readonly {
    readonly about: string;
    readonly text: string;
    /** By our clock: those of BMCs are often hours or years off. */
    readonly seenAt: number;
  }[];
}
