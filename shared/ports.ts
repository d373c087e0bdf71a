import type { ClusterView, PodRef } from './core/cluster.ts';
import type { MachineSpec, Power, PowerVerb } from './core/machine.ts';

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
  readonly systemUUID?: string | undefined;
  readonly watts?: number | undefined;
}

/**
 * How one machine is powered. A command is a request, not a result: `set` returning means the BMC took it.
 * Commands set a state (never toggle), so sending one twice is harmless. A time-out is unknown.
 */
export interface PowerDriver {
  read(signal: AbortSignal): Promise<PowerReading>;
  set(verb: PowerVerb, signal: AbortSignal): Promise<void>;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface DriverDeps {
  /** The credentials a spec names, read at the time of use so that a rotation needs no restart. */
  credentials(name: string): Promise<Credentials>;
}

export type DriverFactory = (spec: MachineSpec, deps: DriverDeps) => PowerDriver;

export class PowerError extends Error {
  override readonly name = 'PowerError';
  /** timeout and unreachable leave the power unknown. */
  readonly code: 'timeout' | 'unreachable' | 'auth' | 'busy' | 'refused' | 'config' | 'wrong-machine';
  readonly retryAfterMs: number | undefined;
  /** A person must mend this: more tries would only lock an account, or hit the wrong machine. */
  get final(): boolean {
    return this.code === 'auth' || this.code === 'config' || this.code === 'wrong-machine';
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
  readonly unschedulable?: boolean;
  readonly providerID?: string;
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
