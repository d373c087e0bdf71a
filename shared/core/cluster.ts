import type { Taint } from './machine.ts';
import type { Resources } from './resources.ts';

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}

/** What the core needs to know of a pod. */
export interface Pod extends PodRef {
  readonly node?: string | undefined;
  /** Finished pods need nothing and block nothing. */
  readonly finished: boolean;
  /** The scheduler looked and found no node: its message. */
  readonly unschedulable?: string | undefined;
  readonly terminating: boolean;
  /** Runs on every node (DaemonSet) or belongs to the node (static): never a reason to keep a machine. */
  readonly belongsToNode: boolean;
  /** Something makes it anew elsewhere when it is evicted, and it loses nothing by that. */
  readonly movable: boolean;
  readonly requests: Resources;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
  readonly createdAt: number;
}

export interface Node {
  readonly name: string;
  readonly ready: boolean;
  readonly unschedulable: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
  readonly providerID?: string | undefined;
  readonly systemUUID?: string | undefined;
  readonly bootID?: string | undefined;
}

export interface ClusterView {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
}
