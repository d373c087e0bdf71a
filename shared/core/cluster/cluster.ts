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

export type Labels = Readonly<Record<string, string>>;

/** One line of a label selector: key, In | NotIn | Exists | DoesNotExist | Gt | Lt, values. */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** All of its lines must hold; a term without any holds nowhere. `fields` knows metadata.name only. */
export interface NodeTerm {
  readonly labels: readonly Requirement[];
  readonly fields: readonly Requirement[];
}

/** Which pods, and how near. Without a selector it means no pod, with an empty one every pod. */
export interface PodTerm {
  readonly topologyKey: string;
  readonly selector?: readonly Requirement[] | undefined;
  /** Neither these nor a selector of them: the pod's own namespace. */
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: readonly Requirement[] | undefined;
}

export interface SpreadRule {
  readonly topologyKey: string;
  readonly selector?: readonly Requirement[] | undefined;
  readonly maxSkew: number;
  readonly minDomains?: number | undefined;
  /** DoNotSchedule; otherwise it is a wish. */
  readonly hard: boolean;
  /** Nodes that the pod may not run on count as well. */
  readonly ignoresAffinity?: boolean | undefined;
  /** Nodes whose taints the pod does not tolerate do not count. */
  readonly honorsTaints?: boolean | undefined;
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** The part of a pod that only the scheduler reads. Pods of one template share one object. */
export interface SchedulingRules {
  /** Any one of them must hold. */
  readonly nodeAffinity?: readonly NodeTerm[] | undefined;
  readonly nodePreferences?: readonly { readonly weight: number; readonly term: NodeTerm }[] | undefined;
  readonly podAffinity?: readonly PodTerm[] | undefined;
  readonly podAntiAffinity?: readonly PodTerm[] | undefined;
  /** A negative weight keeps away. */
  readonly podPreferences?: readonly { readonly weight: number; readonly term: PodTerm }[] | undefined;
  readonly spread?: readonly SpreadRule[] | undefined;
  readonly ports?: readonly HostPort[] | undefined;
  /** Names of PersistentVolumeClaims in its namespace. */
  readonly claims?: readonly string[] | undefined;
  /** What decides where it runs and is not judged here, in a few words each. */
  readonly unmodelled?: readonly string[] | undefined;
}

export interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What the core needs to know of a pod. */
export interface Pod extends PodRef {
  readonly node?: string | undefined;
  /** Finished pods need nothing and block nothing. */
  readonly finished: boolean;
  /** The scheduler looked and found no node: its message. */
  readonly unschedulable?: string | undefined;
  readonly terminating: boolean;
  /** All its containers are. */
  readonly ready?: boolean | undefined;
  /** Runs on every node (DaemonSet) or belongs to the node (static): never a reason to keep a machine. */
  readonly belongsToNode: boolean;
  /** Its controller recreates it elsewhere after an eviction, without loss. */
  readonly movable: boolean;
  readonly requests: Resources;
  readonly nodeSelector: Labels;
  readonly tolerations: readonly Toleration[];
  readonly createdAt: number;
  readonly labels?: Labels | undefined;
  /** Only those that say something about scaling or disruption. */
  readonly annotations?: Labels | undefined;
  /** 0 unless given. */
  readonly priority?: number | undefined;
  /** Its controller. */
  readonly owner?: Owner | undefined;
  /** The scheduler makes room for it there. */
  readonly nominatedNode?: string | undefined;
  /** Names of what holds it back from being scheduled. */
  readonly gates?: readonly string[] | undefined;
  /** Volumes whose data stay behind on the node's disk. */
  readonly localVolumes?: readonly string[] | undefined;
  readonly rules?: SchedulingRules | undefined;
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
  /** Not Ready because nothing is heard of its kubelet, not because the kubelet says so. */
  readonly silent?: boolean | undefined;
  /** Conditions such as MemoryPressure, DiskPressure and PIDPressure that hold now. */
  readonly pressure?: readonly string[] | undefined;
}

export interface DaemonSet {
  readonly namespace: string;
  readonly name: string;
  /** A pod as it will be on a node. */
  readonly template: Pod;
}

export interface Namespace {
  readonly name: string;
  readonly labels: Labels;
}

export interface PersistentVolume {
  readonly name: string;
  readonly labels: Labels;
  readonly storageClass: string;
  readonly capacity: number;
  readonly accessModes: readonly string[];
  readonly volumeMode: string;
  /** Bound to no claim yet, and fit to be. */
  readonly available: boolean;
  readonly terminating: boolean;
  /** The claim it is for; without a uid any claim of that name. */
  readonly claim?:
    | { readonly namespace: string; readonly name: string; readonly uid?: string | undefined }
    | undefined;
  /** Any one of them must hold for a node to reach it; absent: every node does. */
  readonly nodeAffinity?: readonly NodeTerm[] | undefined;
  /** Zones and regions it is labelled with: all must hold on a node that has such labels itself. */
  readonly zones?: readonly Requirement[] | undefined;
}

export interface PersistentVolumeClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty: the class that has no name, which only volumes without a class have. */
  readonly storageClass: string;
  readonly requested: number;
  readonly accessModes: readonly string[];
  readonly volumeMode: string;
  readonly selector?: readonly Requirement[] | undefined;
  /** The volume it names. */
  readonly volume?: string | undefined;
  /** Volume and claim agree that they belong together. */
  readonly bound: boolean;
  readonly lost: boolean;
  readonly terminating: boolean;
  /** Where the scheduler already wants it provisioned. */
  readonly selectedNode?: string | undefined;
}

export interface StorageClass {
  readonly name: string;
  /** WaitForFirstConsumer. */
  readonly waits: boolean;
  /** Nobody makes volumes of a class without one. */
  readonly provisioner?: string | undefined;
  /** Any one of them must hold; absent: everywhere. */
  readonly topologies?: readonly NodeTerm[] | undefined;
}

/** A PodDisruptionBudget. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  readonly selector?: readonly Requirement[] | undefined;
  readonly disruptionsAllowed: number;
}

/** The cluster as it was read. Absent parts were not readable, and are not used. */
export interface ClusterView {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly daemonSets?: readonly DaemonSet[] | undefined;
  readonly namespaces?: readonly Namespace[] | undefined;
  readonly volumes?: readonly PersistentVolume[] | undefined;
  readonly claims?: readonly PersistentVolumeClaim[] | undefined;
  readonly storageClasses?: readonly StorageClass[] | undefined;
  readonly budgets?: readonly DisruptionBudget[] | undefined;
  /** What could not be read and is therefore left out of account, one sentence each. */
  readonly unread?: readonly string[] | undefined;
}

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}
