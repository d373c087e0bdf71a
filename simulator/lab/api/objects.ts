import { z } from 'zod';

// What the lab reads of Kubernetes objects. Everything else a client sends is kept as it is (loose objects).

const Strings = z.record(z.string(), z.string());
const IntOrString = z.union([z.number().int(), z.string()]);
const Quantities = z.record(z.string(), z.union([z.string(), z.number()]).transform(String));
const Amount = z.number().int();

export const OwnerReference = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
});
export type OwnerReference = z.infer<typeof OwnerReference>;

/** Metadata as a client may send it. */
export const Metadata = z.looseObject({
  name: z.string().optional(),
  generateName: z.string().optional(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  labels: Strings.optional(),
  annotations: Strings.optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z.array(OwnerReference).optional(),
});

/** Metadata as the server keeps it. */
export interface ObjectMeta {
  name: string;
  generateName?: string | undefined;
  namespace?: string | undefined;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  generation?: number | undefined;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
  finalizers?: string[] | undefined;
  ownerReferences?: OwnerReference[] | undefined;
}

/** An object in the store: never changed in place, always replaced. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: unknown;
  status?: unknown;
}

/** An object on its way in. */
export type Draft<T extends KubeObject = KubeObject> = Partial<Omit<T, 'metadata' | 'status'>> & {
  metadata: Partial<ObjectMeta>;
  status?: unknown;
};

export const LabelSelector = z.looseObject({
  matchLabels: Strings.optional(),
  matchExpressions: z
    .array(z.looseObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});
export type LabelSelector = z.infer<typeof LabelSelector>;

export const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.string().optional(),
});
export type Condition = z.infer<typeof Condition>;

export const Toleration = z.looseObject({
  key: z.string().optional(),
  operator: z.string().optional(),
  value: z.string().optional(),
  effect: z.string().optional(),
  tolerationSeconds: Amount.optional(),
});
export type Toleration = z.infer<typeof Toleration>;

const NodeSelectorRequirement = z.looseObject({
  key: z.string(),
  operator: z.string(),
  values: z.array(z.string()).optional(),
});

const NodeSelectorTerm = z.looseObject({
  matchExpressions: z.array(NodeSelectorRequirement).optional(),
  matchFields: z.array(NodeSelectorRequirement).optional(),
});
export type NodeSelectorTerm = z.infer<typeof NodeSelectorTerm>;

const Container = z.looseObject({
  name: z.string().optional(),
  image: z.string().optional(),
  restartPolicy: z.string().optional(),
  resources: z.looseObject({ requests: Quantities.optional(), limits: Quantities.optional() }).optional(),
  ports: z
    .array(
      z.looseObject({
        containerPort: Amount.optional(),
        hostPort: Amount.optional(),
        hostIP: z.string().optional(),
        protocol: z.string().optional(),
      }),
    )
    .optional(),
});
export type Container = z.infer<typeof Container>;

export const PodSpec = z.looseObject({
  containers: z.array(Container).default([]),
  initContainers: z.array(Container).optional(),
  nodeName: z.string().optional(),
  nodeSelector: Strings.optional(),
  affinity: z
    .looseObject({
      nodeAffinity: z
        .looseObject({
          requiredDuringSchedulingIgnoredDuringExecution: z
            .looseObject({ nodeSelectorTerms: z.array(NodeSelectorTerm) })
            .optional(),
        })
        .optional(),
    })
    .optional(),
  tolerations: z.array(Toleration).optional(),
  schedulingGates: z.array(z.looseObject({ name: z.string() })).optional(),
  schedulerName: z.string().optional(),
  priority: Amount.optional(),
  priorityClassName: z.string().optional(),
  restartPolicy: z.string().optional(),
  hostNetwork: z.boolean().optional(),
  overhead: Quantities.optional(),
  terminationGracePeriodSeconds: Amount.optional(),
  volumes: z.array(z.looseObject({ name: z.string().optional() })).optional(),
});
export type PodSpec = z.infer<typeof PodSpec>;

export const PodStatus = z.looseObject({
  phase: z.string().optional(),
  reason: z.string().optional(),
  conditions: z.array(Condition).optional(),
});
export interface Pod extends KubeObject {
  spec: PodSpec;
  status: z.infer<typeof PodStatus>;
}

export const PodTemplate = z.looseObject({ metadata: Metadata.optional(), spec: PodSpec.optional() });
export type PodTemplate = z.infer<typeof PodTemplate>;

export const Taint = z.looseObject({
  key: z.string(),
  value: z.string().optional(),
  effect: z.string(),
  timeAdded: z.string().optional(),
});
export type Taint = z.infer<typeof Taint>;

export const NodeSpec = z.looseObject({
  unschedulable: z.boolean().optional(),
  taints: z.array(Taint).optional(),
  providerID: z.string().optional(),
});
export const NodeStatus = z.looseObject({
  capacity: Quantities.optional(),
  allocatable: Quantities.optional(),
  conditions: z.array(Condition).optional(),
});
export interface Node extends KubeObject {
  spec: z.infer<typeof NodeSpec>;
  status: z.infer<typeof NodeStatus>;
}

/** Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs have this much in common. */
export const WorkloadSpec = z.looseObject({
  replicas: Amount.optional(),
  selector: LabelSelector.optional(),
  template: PodTemplate.optional(),
  minReadySeconds: Amount.optional(),
  paused: z.boolean().optional(),
  strategy: z
    .looseObject({
      type: z.string().optional(),
      rollingUpdate: z
        .looseObject({ maxSurge: IntOrString.optional(), maxUnavailable: IntOrString.optional() })
        .optional(),
    })
    .optional(),
  updateStrategy: z
    .looseObject({
      type: z.string().optional(),
      rollingUpdate: z.looseObject({ maxUnavailable: IntOrString.optional() }).optional(),
    })
    .optional(),
  revisionHistoryLimit: Amount.optional(),
  serviceName: z.string().optional(),
  podManagementPolicy: z.string().optional(),
  volumeClaimTemplates: z
    .array(z.looseObject({ metadata: Metadata, spec: z.looseObject({}).optional() }))
    .optional(),
  parallelism: Amount.optional(),
  completions: Amount.optional(),
  backoffLimit: Amount.optional(),
  suspend: z.boolean().optional(),
  ttlSecondsAfterFinished: Amount.optional(),
  manualSelector: z.boolean().optional(),
});
export const WorkloadStatus = z.looseObject({
  replicas: Amount.optional(),
  readyReplicas: Amount.optional(),
  availableReplicas: Amount.optional(),
  observedGeneration: Amount.optional(),
  succeeded: Amount.optional(),
  failed: Amount.optional(),
  startTime: z.string().optional(),
  conditions: z.array(Condition).optional(),
});
export type WorkloadSpec = z.infer<typeof WorkloadSpec>;
export type WorkloadStatus = z.infer<typeof WorkloadStatus>;
/** After validation selector and template are there; Jobs get theirs from the server. */
export interface Workload extends KubeObject {
  spec: WorkloadSpec & { selector: LabelSelector; template: PodTemplate };
  status: WorkloadStatus;
}

export const DisruptionBudgetSpec = z.looseObject({
  minAvailable: IntOrString.optional(),
  maxUnavailable: IntOrString.optional(),
  selector: LabelSelector.optional(),
  unhealthyPodEvictionPolicy: z.string().optional(),
});
export const DisruptionBudgetStatus = z.looseObject({
  disruptionsAllowed: Amount.optional(),
  currentHealthy: Amount.optional(),
  desiredHealthy: Amount.optional(),
  expectedPods: Amount.optional(),
  observedGeneration: Amount.optional(),
  disruptedPods: Strings.optional(),
  conditions: z.array(Condition).optional(),
});
export interface DisruptionBudget extends KubeObject {
  spec: z.infer<typeof DisruptionBudgetSpec>;
  status: z.infer<typeof DisruptionBudgetStatus>;
}

export const LeaseSpec = z.looseObject({
  holderIdentity: z.string().optional(),
  renewTime: z.string().optional(),
});

export interface Namespace extends KubeObject {
  spec: { finalizers?: string[] | undefined };
  status: { phase?: string | undefined };
}

const SchemaVersion = z.looseObject({
  name: z.string(),
  served: z.boolean(),
  storage: z.boolean(),
  schema: z.looseObject({ openAPIV3Schema: z.looseObject({}).optional() }).optional(),
  subresources: z.looseObject({ status: z.looseObject({}).optional() }).optional(),
  additionalPrinterColumns: z
    .array(
      z.looseObject({
        name: z.string(),
        type: z.string(),
        jsonPath: z.string(),
        priority: Amount.optional(),
      }),
    )
    .optional(),
});
export const DefinitionSpec = z.looseObject({
  group: z.string(),
  scope: z.string(),
  names: z.looseObject({
    kind: z.string(),
    plural: z.string(),
    singular: z.string().optional(),
    listKind: z.string().optional(),
    shortNames: z.array(z.string()).optional(),
    categories: z.array(z.string()).optional(),
  }),
  versions: z.array(SchemaVersion).min(1),
});
export interface CustomResourceDefinition extends KubeObject {
  spec: z.infer<typeof DefinitionSpec>;
  status: { conditions?: Condition[] | undefined };
}
