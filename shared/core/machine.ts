import { initialState, type MachineState } from './lifecycle.ts';
import type { Resources } from './resources.ts';

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

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
  readonly rack?: string | undefined;
  readonly zone?: string | undefined;
  readonly powerCircuit?: string | undefined;
  readonly resources: Resources;
  readonly watts?: { readonly idle: number; readonly max: number } | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly maintenance?: boolean | undefined;
  readonly systemUUID?: string | undefined;
  readonly providerID?: string | undefined;
}

export type Power = 'on' | 'off' | 'unknown';

/**
 * What is known about a machine. Times are milliseconds since the epoch.
 * Three observations stand apart: `powerState` and `bmcReachable` come from the BMC, `nodeReady` from Kubernetes.
 */
export interface MachineStatus {
  readonly state: MachineState;
  readonly stateSince: number;
  readonly powerState: Power;
  readonly bmcReachable?: boolean | undefined;
  readonly kubernetesNode?: string | undefined;
  readonly nodeReady?: boolean | undefined;
  /** Of the boot that last joined: a node that shows it again has not been restarted. */
  readonly bootID?: string | undefined;
  /** The operation under way: at most one, set and cleared in the same transaction as the state. */
  readonly operation?: string | undefined;
  readonly lastError?:
    | { readonly code: ErrorCode; readonly message: string; readonly at: number }
    | undefined;
  readonly lastPowerAction?: PowerVerb | undefined;
  readonly powerActionTime?: number | undefined;
  readonly bootTime?: number | undefined;
  readonly joinTime?: number | undefined;
  /** Failures in a row since the machine last served. */
  readonly attempts: number;
  readonly retryAt?: number | undefined;
  readonly learnedBootMs?: number | undefined;
  readonly drain?: { readonly podsLeft: number; readonly podsTotal: number } | undefined;
}

export type ErrorCode = 'power-on-failed' | 'power-off-failed' | 'never-joined' | 'lost-power';

export type PowerVerb = 'on' | 'soft-off' | 'hard-off';

/** What evaluations remember about a machine between them. */
export interface MachineMetrics {
  /** Since when no pod needs the node; absent while one does. */
  readonly idleSince?: number | undefined;
}

export interface Machine {
  readonly spec: MachineSpec;
  readonly status: MachineStatus;
  readonly metrics: MachineMetrics;
}

/** A machine nobody has looked at yet: its BMC will tell what it really is. */
export function newStatus(now: number): MachineStatus {
  return { state: initialState, stateSince: now, powerState: 'unknown', attempts: 0 };
}
