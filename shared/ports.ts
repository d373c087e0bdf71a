import type { z } from 'zod';
import type { ClusterView, PodRef } from './core/cluster.ts';
import type { LogReading } from './core/hardware-log.ts';
import type { MachineSpec, Power, PowerVerb } from './core/machine.ts';
import type { Resources } from './core/resources.ts';

// ── Store ────────────────────────────────────────────────────────────────────────────────────────

export interface Entry {
  readonly key: string;
  readonly value: string;
  /** Revision of the last write to this key. */
  readonly revision: number;
  /** Revision at which the key came into being. */
  readonly created: number;
}

/** What must hold for a commit to happen. `revision: 0` means the key must not exist. */
export type Condition =
  | { readonly key: string; readonly revision: number }
  | { readonly key: string; readonly created: number };

export type Write = { readonly put: string; readonly value: string } | { readonly delete: string };

export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly revision: number };

/**
 * `reset`: forget everything known under the prefix, this is all of it now. The first change of every
 * watch, and again whenever changes may have been missed.
 */
export type StoreChange =
  | { readonly type: 'reset'; readonly entries: readonly Entry[]; readonly revision: number }
  | { readonly type: 'put'; readonly entry: Entry; readonly revision: number }
  | { readonly type: 'delete'; readonly key: string; readonly revision: number };

export interface Watch {
  close(): Promise<void>;
}

export interface Lease {
  readonly name: string;
  /** Put into every commit made under the lease: it fails once somebody else holds it. */
  readonly fence: Condition;
  /** Aborts when the lease is or may soon be lost, before its TTL, by the local monotonic clock. */
  readonly lost: AbortSignal;
  /** Milliseconds for which the lease is certainly still ours; 0 once lost. */
  remainingMs(): number;
  /** Gives the lease back at once. Harmless when it is lost already. */
  release(): Promise<void>;
}

/**
 * The truth. Keys are paths, values are strings (versioned JSON). Every read is linearizable.
 * Any call may throw StoreError; after a commit that threw with `ambiguous` the write may or may not have
 * happened: read again before acting.
 */
export interface Store {
  get(key: string): Promise<Entry | undefined>;
  /** Everything under a prefix, at one revision, ordered by key. */
  list(prefix: string): Promise<{ readonly revision: number; readonly entries: readonly Entry[] }>;
  /** All writes or none. At most 100 conditions and 100 writes, no key written twice. */
  commit(conditions: readonly Condition[], writes: readonly Write[]): Promise<CommitResult>;
  /** Calls back in order of revision, one change at a time, until closed. Survives lost connections. */
  watch(prefix: string, onChange: (change: StoreChange) => void): Promise<Watch>;
  /** Takes a lease at /baremetal/leases/{name}, kept alive until released; undefined while another holds it. */
  acquire(name: string, ttlMs: number, owner: string): Promise<Lease | undefined>;
  close(): Promise<void>;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'unavailable' | 'ambiguous' | 'full' | 'refused';
  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// ── Power ────────────────────────────────────────────────────────────────────────────────────────

export interface PowerReading {
  /** Off only when the BMC says exactly that; anything in between or unclear is unknown. */
  readonly power: Power;
  /** Why it is unknown, where somebody can tell, in words. */
  readonly unclear?: string | undefined;
  /** Nobody said so: it follows from what the node does. Good enough to act on, no proof that it is off. */
  readonly inferred?: boolean | undefined;
  /** What it was granted, where that may be less than what was asked for; absent while nobody can tell. */
  readonly resources?: Resources | undefined;
  /** It was asked for in another size than its spec has now: `set('on')` asks anew. */
  readonly outgrown?: boolean | undefined;
  /** False: a machine made on demand that is not there (yet, or any more). It is off, then. */
  readonly exists?: boolean | undefined;
  readonly systemUUID?: string | undefined;
  readonly serial?: string | undefined;
  /** How far its boot has come, in the BMC's words. */
  readonly bootProgress?: string | undefined;
}

/** What can be expected of a machine: who cannot do something says so, and it is planned without. */
export interface Capabilities {
  /** False: nothing tells whether it is on but its node. */
  readonly status: boolean;
  readonly softOff: boolean;
  readonly hardOff: boolean;
  readonly bootFromNetwork: boolean;
  readonly sensors: boolean;
}

export interface Sensors {
  readonly watts?: number | undefined;
  /** Of the hottest sensor that counts. */
  readonly celsius?: number | undefined;
  readonly health: 'ok' | 'warning' | 'critical' | 'unknown';
  /** What is wrong, in words: "PSU 2 failed". */
  readonly problems: readonly string[];
}

/** What a BMC tells about its machine, for people who write inventories. */
export interface Description {
  readonly systemUUID?: string | undefined;
  readonly serial?: string | undefined;
  readonly manufacturer?: string | undefined;
  readonly model?: string | undefined;
  readonly macAddresses: readonly string[];
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly gpus?: number | undefined;
}

/**
 * How one machine is powered. A command is a request, not a result: `set` returning means the BMC took it.
 * Commands set a state (never toggle), so sending one twice is harmless. A time-out is unknown.
 * Once the signal aborts nothing more is sent, but what closes a session.
 */
export interface PowerDriver {
  readonly capabilities: Capabilities;
  read(signal: AbortSignal): Promise<PowerReading>;
  /** The operation's id names what is made for it, where something is: asked twice, it is made once. */
  set(verb: PowerVerb, signal: AbortSignal, operation: string): Promise<void>;
  /** The next boot, and only that, is from the network; read back. */
  bootFromNetwork?(signal: AbortSignal): Promise<void>;
  sense?(signal: AbortSignal): Promise<Sensors>;
  /** What its hardware log says, from where `after` says that it was read to. Undefined: its BMC keeps none. */
  readLog?(after: string | undefined, signal: AbortSignal): Promise<LogReading | undefined>;
  describe?(signal: AbortSignal): Promise<Description>;
  /** Gives a machine made on demand back: it is gone when this returns. Only ever after a verified off. */
  release?(signal: AbortSignal): Promise<void>;
}

/** What a Secret holds: username and password for most; kg, token, secureOn … where a driver asks for them. */
export type Credentials = Readonly<Record<string, string>>;

/** What Kubernetes knows of a machine: the only witness where nothing else tells. */
export interface NodeEvidence {
  readonly node: string;
  readonly ready: boolean;
  readonly bootID?: string | undefined;
  /** Since its kubelet last renewed the node's lease; undefined where there is none. */
  readonly heartbeatAgeMs?: number | undefined;
  readonly addresses: readonly string[];
}

/** A Kubernetes Job, as far as a driver needs to know. */
export interface JobState {
  readonly phase: 'running' | 'succeeded' | 'failed';
  readonly message?: string | undefined;
  /** The end of its pod's log, when it failed. */
  readonly log?: string | undefined;
  /** Milliseconds since the epoch; undefined while it runs. */
  readonly finishedAt?: number | undefined;
}

export interface Jobs {
  /** Makes the Job unless one of that name is there already; a CronJob is brought up to date. */
  ensure(namespace: string | undefined, job: Readonly<Record<string, unknown>>): Promise<void>;
  read(namespace: string | undefined, name: string): Promise<JobState | undefined>;
  /** The one that finished last of those with these labels. */
  latest(
    namespace: string | undefined,
    labels: Readonly<Record<string, string>>,
  ): Promise<JobState | undefined>;
}

/** An object of the cluster, as it came. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly uid?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
  readonly spec?: Readonly<Record<string, unknown>> | undefined;
  readonly status?: Readonly<Record<string, unknown>> | undefined;
  readonly [field: string]: unknown;
}

/** Objects of the cluster, read afresh, by their path: `/apis/GROUP/VERSION/namespaces/NS/PLURAL/NAME`. Throws PowerError. */
export interface KubeObjects {
  get(path: string, signal: AbortSignal): Promise<KubeObject | undefined>;
  list(path: string, labelSelector: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** Of that name, as it is afterwards; what is there already stays as it is. */
  ensure(path: string, object: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<KubeObject>;
  /** A merge patch. */
  patch(path: string, change: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<KubeObject>;
  /** Asks for it to be deleted; false: it was gone already. */
  remove(path: string, signal: AbortSignal): Promise<boolean>;
}

export interface DriverDeps {
  /** Objects of our own cluster, for machines that are made through it; absent where there is none. */
  readonly objects?: KubeObjects | undefined;
  /** The credentials a spec names, read at the time of use so that a rotation needs no restart. */
  credentials(name: string): Promise<Credentials>;
  /** The address to connect to, after resolution: only inside the allowed networks. Throws PowerError. */
  resolve(host: string): Promise<string>;
  nodeOf(spec: MachineSpec): Promise<NodeEvidence | undefined>;
  readonly jobs: Jobs;
  readonly clock: Clock;
}

/** One way to power machines. Its options stand in the inventory under the driver's name. */
export interface DriverDefinition<Options = unknown> {
  readonly options: z.ZodType<Options>;
  /** Throws PowerError `config` when the spec lacks something. Contacts nobody. */
  create(spec: MachineSpec, options: Options, deps: DriverDeps): PowerDriver;
  /**
   * Machines that were made on demand and that nobody keeps a record of: those that are off are given back,
   * those that run may run something and are only named. `spec` says where, as for a machine of the pool.
   */
  releaseStrays?(
    spec: MachineSpec,
    options: Options,
    isKnown: (machine: string) => boolean,
    deps: DriverDeps,
    signal: AbortSignal,
  ): Promise<{ readonly released: readonly string[]; readonly running: readonly string[] }>;
}

export class PowerError extends Error {
  override readonly name = 'PowerError';
  /** timeout and unreachable leave the power unknown. */
  readonly code:
    | 'timeout'
    | 'unreachable'
    | 'auth'
    | 'busy'
    | 'refused'
    | 'denied'
    | 'config'
    | 'wrong-machine';
  readonly retryAfterMs: number | undefined;
  /** A person must mend this: more tries would only lock an account, hit the wrong machine, or be told no again. */
  get final(): boolean {
    return ['auth', 'denied', 'config', 'wrong-machine'].includes(this.code);
  }
  constructor(
    code: PowerError['code'],
    message: string,
    options?: ErrorOptions & { retryAfterMs?: number | undefined },
  ) {
    super(message, options);
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

// ── Cluster ──────────────────────────────────────────────────────────────────────────────────────

type EvictionResult =
  | { readonly kind: 'evicted' }
  | { readonly kind: 'gone' }
  /** A PodDisruptionBudget or a busy server says not now. */
  | { readonly kind: 'blocked'; readonly why: string; readonly retryAfterMs?: number | undefined };

export interface NodeChange {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly taints?: readonly {
    readonly key: string;
    readonly value?: string | undefined;
    readonly effect: string;
  }[];
  /** Taken away whatever their value; of every effect unless one is named. */
  readonly removeTaints?: readonly { readonly key: string; readonly effect?: string | undefined }[];
  readonly unschedulable?: boolean;
  readonly providerID?: string;
}

/** What a Kubernetes Event is about. */
interface ObjectRef {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** The Kubernetes cluster. Throws ClusterError when it does not answer: nothing is decided on a guess. */
export interface Cluster {
  /** Pods and nodes as of now; a warm instance may answer from a watched cache. */
  view(): Promise<ClusterView>;
  /** Read afresh, never from a cache: what a drain relies on. */
  podsOn(node: string): Promise<ClusterView['pods']>;
  node(name: string): Promise<ClusterView['nodes'][number] | undefined>;
  changeNode(name: string, change: NodeChange): Promise<void>;
  /** False: it was gone already. */
  deleteNode(name: string): Promise<boolean>;
  evict(pod: PodRef): Promise<EvictionResult>;
  /** Removes the pod at once, without waiting for its kubelet: only where that machine is proven off. False: it was gone already. */
  forceDelete(pod: PodRef): Promise<boolean>;
  /** Names of the volumes that are attached to the node, read afresh; undefined where that may not be read. */
  volumesOn(node: string): Promise<readonly string[] | undefined>;
  /** Writes a Kubernetes Event. Never throws: what it tells is done already. */
  tell(about: ObjectRef, type: 'Normal' | 'Warning', reason: string, message: string): Promise<void>;
}

export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  readonly code: 'unavailable' | 'conflict' | 'not-found' | 'refused';
  readonly retryAfterMs: number | undefined;
  constructor(
    code: ClusterError['code'],
    message: string,
    options?: ErrorOptions & { retryAfterMs?: number | undefined },
  ) {
    super(message, options);
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

// ── Metrics ──────────────────────────────────────────────────────────────────────────────────────

/** What an expression gives, as of when. What is no number (NaN, infinite) is left as it is. */
export interface Measured {
  /** Milliseconds since the epoch, by the clock of who answered. */
  readonly at: number;
  /** One per series; none where there is no data. */
  readonly values: readonly number[];
}

/** Prometheus, or what answers like it. */
export interface MetricsSource {
  /** Throws MetricsError when there is no answer, or none that can be understood. */
  query(expression: string, signal: AbortSignal): Promise<Measured>;
}

export class MetricsError extends Error {
  override readonly name = 'MetricsError';
}

// ── Events, time ─────────────────────────────────────────────────────────────────────────────────

/** What functions tell each other; wrapped into a CloudEvent on the way out. */
export interface BamelEvent {
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventSink {
  /** Hands the event over. It may be delivered twice, late or, after a crash, never: the tick makes it good. */
  emit(event: BamelEvent): Promise<void>;
}

export interface Clock {
  /** Milliseconds since the epoch, for what is written down and compared across processes. */
  now(): number;
  /** Milliseconds that only ever go forward, for how long something took in this process. */
  monotonic(): number;
  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
