import type { z } from 'zod';
import type { Resources } from '../core/cluster/resources.ts';
import type { LogReading } from '../core/machine/hardware-log.ts';
import type { MachineSpec, Power, PowerVerb } from '../core/machine/machine.ts';
import type { Clock } from './clock.ts';
import type { Jobs, KubeObjects } from './kubernetes-objects.ts';

export interface PowerReading {
  /** Off only when the BMC says exactly that; anything in between or unclear is unknown. */
  readonly power: Power;
  /** Why it is unknown, if known, in words. */
  readonly unclear?: string | undefined;
  /** Nobody said so: it follows from what the node does. Good enough to act on, no proof that it is off. */
  readonly inferred?: boolean | undefined;
  /** The granted resources, where that may be less than requested; absent if unknown. */
  readonly resources?: Resources | undefined;
  /** It was requested in another size than its spec has now: `set('on')` requests it again. */
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
  /** False: only its node shows whether it is on. */
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
  /** Problems in words: "PSU 2 failed". */
  readonly problems: readonly string[];
}

/** Description of a machine by its BMC, for people who write inventories. */
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

/**
 * The content of a Secret: username and password for most; kg, token, secureOn … for drivers that need them.
 */
export type Credentials = Readonly<Record<string, string>>;

/** The state of a machine in Kubernetes: the only source where no BMC reports its power. */
export interface NodeEvidence {
  readonly node: string;
  readonly ready: boolean;
  readonly bootID?: string | undefined;
  /** Since its kubelet last renewed the node's lease; undefined where there is none. */
  readonly heartbeatAgeMs?: number | undefined;
  readonly addresses: readonly string[];
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
export interface DriverDefinition<Options = unknown, Uses extends keyof DriverDeps = keyof DriverDeps> {
  readonly options: z.ZodType<Options>;
  /** What it is handed, and nothing else. */
  readonly uses: readonly Uses[];
  /** Throws PowerError `config` if the spec lacks something. Makes no calls. */
  create(spec: MachineSpec, options: Options, deps: Pick<DriverDeps, Uses>): PowerDriver;
  /**
   * Machines that were made on demand and that nobody keeps a record of: those that are off are given back,
   * those that run may run something and are only named. `spec` says where, as for a machine of the pool.
   */
  releaseOrphans?(
    spec: MachineSpec,
    options: Options,
    isKnown: (machine: string) => boolean,
    deps: Pick<DriverDeps, Uses>,
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
  /**
   * A person must fix this: retries would lock an account, command the wrong machine, or be refused again.
   */
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
