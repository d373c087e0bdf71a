import { byText } from '../core/text.ts';

/** Our kinds of custom resources: BareMetalAutoscaler, NodePool, BareMetalNode. */
export type KindName = 'autoscaler' | 'pool' | 'node';

export type Json = Readonly<Record<string, unknown>>;

/** One of our custom resources in the cluster. */
export interface Resource {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: string;
  /** It is being deleted: it is gone once the last finalizer is removed. */
  readonly deleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly spec: Json;
  readonly status: Json;
}

export type AllResources = Readonly<Record<KindName, readonly Resource[]>>;

interface Note {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * Our custom resources. Every call throws ClusterError when the API server does not answer: what is not heard
 * of is not gone. Writes name the version they were made from.
 */
export interface Resources {
  /** All of them, perhaps from a watched cache; undefined where the kinds are not installed. */
  all(): Promise<AllResources | undefined>;
  /** Read afresh; undefined: it is not there. */
  read(resource: Resource): Promise<Resource | undefined>;
  /** The resource as it is then; undefined: it changed meanwhile, or is gone. Look again. */
  writeFinalizers(resource: Resource, finalizers: readonly string[]): Promise<Resource | undefined>;
  writeStatus(resource: Resource, status: Json): Promise<Resource | undefined>;
  delete(resource: Resource): Promise<void>;
  /** A Kubernetes Event about the resource. */
  recordEvent(resource: Resource, note: Note): Promise<void>;
}

export const refOf = ({ namespace, name }: Pick<Resource, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** The oldest first; names decide between those made in the same second. */
export const byAge = (a: Resource, b: Resource): number =>
  byText(a.createdAt, b.createdAt) || byText(refOf(a), refOf(b));
