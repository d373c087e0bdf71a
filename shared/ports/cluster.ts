import type { ClusterView, PodRef } from '../core/cluster/cluster.ts';

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

/** The object of a Kubernetes Event. */
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
  /** Never from a cache: a drain relies on it. */
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
  /** Records a Kubernetes Event. Never throws: the action is already done. */
  recordEvent(about: ObjectRef, type: 'Normal' | 'Warning', reason: string, message: string): Promise<void>;
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
