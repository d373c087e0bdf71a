import type { Taint } from './cluster/cluster.ts';
import type { Resources } from './cluster/resources.ts';
import { defaultRemote, type Remote } from './remote/remote-settings.ts';
import { defaultPolicies, type PolicyName } from './scale-up/policy-names.ts';

/** How patient we are with machines. All in milliseconds, all configurable, with these defaults. */
export interface Timings {
  /** A BMC call that has not answered by then is unknown, never a success. */
  readonly bmcTimeoutMs: number;
  /** How often the BMC is read while a power change is awaited. */
  readonly readEveryMs: number;
  /** How often the BMC of a machine at rest is read. */
  readonly sweepEveryMs: number;
  /** A BMC gets at most one command in this time: bursts freeze some. */
  readonly commandEveryMs: number;
  /** A command that changed nothing is sent again after this. */
  readonly resendAfterMs: number;
  /** A soft off that changed nothing becomes a hard off after this. */
  readonly softOffPatienceMs: number;
  readonly powerOnTimeoutMs: number;
  readonly powerOffTimeoutMs: number;
  /** No learned boot time makes the join deadline shorter than this. */
  readonly shortestJoinTimeoutMs: number;
  /** A failed machine is left alone for this long, doubled with every failure in a row up to the maximum. */
  readonly retryAfterMs: number;
  readonly retryAfterMaxMs: number;
  /** How often pods that refuse to leave are asked again. */
  readonly evictEveryMs: number;
  /** How long a node without pods is given to detach its volumes before it is powered off all the same. */
  readonly volumeTimeoutMs: number;
}

export const defaultTimings: Timings = {
  bmcTimeoutMs: 10_000,
  readEveryMs: 2_000,
  sweepEveryMs: 60_000,
  commandEveryMs: 5_000,
  resendAfterMs: 30_000,
  softOffPatienceMs: 180_000,
  powerOnTimeoutMs: 300_000,
  powerOffTimeoutMs: 600_000,
  shortestJoinTimeoutMs: 120_000,
  retryAfterMs: 300_000,
  retryAfterMaxMs: 3_600_000,
  evictEveryMs: 5_000,
  volumeTimeoutMs: 120_000,
};

/** Consecutive equal reads that make a power state a fact. */
export const stableReads = 2;

/** Times of the week: cron for when it begins, and for how long. */
export interface Window {
  readonly cron: string;
  readonly forMs: number;
  /** IANA name; UTC unless given. */
  readonly timeZone?: string | undefined;
}

/** While the window is open, or a boot before it opens, this many are on. */
interface ScheduleWindow extends Window {
  readonly minNodes: number;
}

/** Why a machine is taken out of service. */
export type DisruptionReason = 'empty' | 'underutilized' | 'replaced';

/** How many machines may be leaving at once; of several that apply the most restrictive wins. */
export interface Budget {
  /** A number of machines, or a share of those that are on. */
  readonly nodes: { readonly count: number } | { readonly share: number };
  /** All reasons unless given. */
  readonly reasons?: readonly DisruptionReason[] | undefined;
  /** Always unless given. */
  readonly window?: Window | undefined;
}

export interface Trigger {
  readonly name: string;
  readonly metricQuery: string;
  readonly threshold: number;
  readonly durationMs: number;
  /** up: above the threshold wants one more machine. down: nothing leaves unless it is below the threshold. */
  readonly scaleDirection: 'up' | 'down';
}

export interface Size {
  readonly cpu: number;
  readonly memory: number;
  readonly gpu: number;
  /** Of what is lent; others have as many places for pods as is usual. */
  readonly pods?: number | undefined;
}

/** Which offers of remote clusters a pool takes. */
export interface OfferRules {
  /** Cluster ids; all that are trusted unless given. */
  readonly providers?: readonly string[] | undefined;
  /** In order of preference. */
  readonly regions?: readonly string[] | undefined;
  /** Other regions are not taken at all. */
  readonly onlyRegions?: boolean | undefined;
  readonly maxLatencyMs?: number | undefined;
}

/** How machines of a pool are made on demand. Sizes in the units of Resources. */
export interface Provider {
  /** The driver that makes them. */
  readonly name: string;
  readonly namePrefix: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly minSize: Size;
  readonly maxSize: Size;
  /** What a machine keeps for itself: it is made larger by that than pods can use. */
  readonly memoryOverhead: number;
  /** Of one of the largest size; smaller ones draw and cost less in proportion. */
  readonly watts?: { readonly idle: number; readonly max: number } | undefined;
  readonly pricing?:
    | { readonly hourlyRate?: number | undefined; readonly podRate?: number | undefined }
    | undefined;
  readonly mgmtAddress?: string | undefined;
  readonly bmcCredentials?: string | undefined;
  /** Its machines are slices of remote clusters, taken from their offers. */
  readonly offers?: OfferRules | undefined;
}

export interface Template {
  readonly architecture?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly provider?: Provider | undefined;
}

/** 0 = unbounded, for every maximum. */
export interface Ceilings {
  readonly maxNodes: number;
  readonly cpuCores: number;
  readonly memoryMiB: number;
  /** What all that is on may cost in an hour. */
  readonly hourlyCost?: number | undefined;
}

export interface PoolSpec {
  readonly name: string;
  /** Pools of the stock Cluster Autoscaler are left alone by our own decisions. */
  readonly managedBy: 'bamel' | 'clusterAutoscaler';
  /** Above others where their machines would do as well. */
  readonly priority: number;
  readonly limits: Ceilings & { readonly minNodes: number };
  readonly template: Template;
  readonly scaleUp: {
    /** At most this many on their way at once; 0 = unbounded. */
    readonly batchSize: number;
    readonly stabilizationWindowMs?: number | undefined;
    readonly threshold?: number | undefined;
  };
  readonly scaleDown: {
    /** At most this many leaving at once; 0 = unbounded. */
    readonly maxConcurrent: number;
    readonly unneededForMs?: number | undefined;
    readonly drainTimeoutMs: number;
    readonly threshold?: number | undefined;
  };
  readonly triggers: readonly Trigger[];
  readonly budgets: readonly Budget[];
  readonly schedule: readonly ScheduleWindow[];
  /** Machines are powered on ahead of need, as far as the pool's history says; absent: never. */
  readonly prewarm?: { readonly confidence: number; readonly horizonMs: number } | undefined;
  /** Kept free beyond all demand. */
  readonly headroom: Resources;
  readonly policies?: readonly PolicyName[] | undefined;
  /** On a node until it is initialized: no reason not to count on it. */
  readonly startupTaints: readonly Taint[];
  /** Nodes with these labels ought to be machines of this pool. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** How long a machine that is on may take to become a Ready node, until its own boot time is known. */
  readonly provisionTimeoutMs: number;
  readonly recovery: Recovery;
}

/** What becomes of a machine whose node stays NotReady. */
export interface Recovery {
  /** wait: nothing. replace: quarantined, so that another is powered on. power-cycle: powered off, to start afresh. */
  readonly policy: 'wait' | 'replace' | 'power-cycle';
  readonly notReadyForMs: number;
  /** At most so many power cycles of a pool in an hour. */
  readonly maxPerHour: number;
}

export const defaultPool: Omit<PoolSpec, 'name'> = {
  managedBy: 'bamel',
  priority: 0,
  limits: { minNodes: 0, maxNodes: 0, cpuCores: 0, memoryMiB: 0, hourlyCost: 0 },
  template: {},
  scaleUp: { batchSize: 0 },
  scaleDown: { maxConcurrent: 10, drainTimeoutMs: 600_000 },
  triggers: [],
  budgets: [],
  schedule: [],
  headroom: {},
  startupTaints: [],
  nodeSelector: {},
  provisionTimeoutMs: 900_000,
  recovery: { policy: 'replace', notReadyForMs: 600_000, maxPerHour: 2 },
};

/** What is configured for all pools together. */
export interface Settings {
  /** Machine or node names, or labels as key or key=value, that are never powered off. */
  readonly protect: readonly string[];
  readonly dryRun: boolean;
  /** Above this share of cpu or memory, pods that the scheduler refuses for long get another machine. */
  readonly scaleUpThreshold: number;
  /** A machine that is used less than this (0 to 1, of cpu, memory or GPUs, whichever is most) may be emptied. */
  readonly scaleDownThreshold: number;
  /** For how long nothing must have needed a machine, unless its pool says otherwise. */
  readonly unneededForMs: number;
  /** Pods wait this long before a machine is powered on for them, unless a pool says otherwise. */
  readonly stabilizationWindowMs: number;
  /** Over all pools, nodes that are no machine of ours included. */
  readonly limits: Ceilings;
  readonly cooldowns: {
    readonly afterScaleUpMs: number;
    readonly afterScaleDownMs: number;
    readonly afterFailureMs: number;
  };
  /** Power-ons per minute: in all, in a rack, on a power circuit. 0 = unbounded. */
  readonly rateLimits: { readonly perMinute: number; readonly perRack: number; readonly perCircuit: number };
  readonly budgets: readonly Budget[];
  readonly policies: readonly PolicyName[];
  readonly pressure: {
    /** From this level on (0 to 1), rising pressure on a node asks for another machine. */
    readonly threshold: number;
    /** What counts when a machine is chosen against it: the resource that is short, and the others. */
    readonly useful: number;
    readonly others: number;
  };
  /** Nothing of a pool is powered off while more of its nodes than both of these are not Ready. */
  readonly unready: { readonly count: number; readonly share: number };
  /** Pods of a lower priority neither get nor keep a machine. */
  readonly priorityCutoff: number;
  /** Only what has come back from off before is powered off unasked. */
  readonly requireProvenCycle: boolean;
  /** A machine stays on until idling has cost what booting it again will. */
  readonly weighBoot: boolean;
  /** Pods with data on the node's disk may be moved, and lose it. */
  readonly moveLocalStorage: boolean;
  /** DaemonSet pods count towards a node's use. */
  readonly countDaemonSets: boolean;
  /** A machine is exchanged for an off one that does the same for fewer watts. */
  readonly replace: boolean;
  /** iPXE scripts by the name that machines have as bootProfile. */
  readonly bootProfiles: Readonly<Record<string, string>>;
  readonly remote: Remote;
  readonly timings: Timings;
}

export const defaultSettings: Settings = {
  protect: ['control-plane'],
  dryRun: false,
  scaleUpThreshold: 0.7,
  scaleDownThreshold: 0.3,
  unneededForMs: 600_000,
  stabilizationWindowMs: 0,
  limits: { maxNodes: 0, cpuCores: 0, memoryMiB: 0, hourlyCost: 0 },
  cooldowns: { afterScaleUpMs: 0, afterScaleDownMs: 0, afterFailureMs: 180_000 },
  rateLimits: { perMinute: 0, perRack: 0, perCircuit: 0 },
  budgets: [],
  policies: defaultPolicies,
  pressure: { threshold: 0.7, useful: 1, others: 0.25 },
  unready: { count: 3, share: 0.45 },
  priorityCutoff: -10,
  requireProvenCycle: true,
  weighBoot: true,
  moveLocalStorage: false,
  countDaemonSets: false,
  replace: true,
  bootProfiles: {},
  remote: defaultRemote,
  timings: defaultTimings,
};
