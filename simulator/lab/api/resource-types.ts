import type { z } from 'zod';
import type { Alias } from './event-alias.ts';
import { aliasOfCoreEvents } from './event-alias.ts';
import type { KubeObject } from './objects.ts';
import * as shape from './objects.ts';

export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[] | undefined;
  readonly categories?: readonly string[] | undefined;
  /** Has /status: status is written there only, and the rest is not. */
  readonly status?: boolean;
  /** Keeps the status a creator sends (a kubelet registers its node in one request). */
  readonly createsStatus?: boolean;
  readonly scale?: boolean;
  /** metadata.generation counts the changes of the spec. */
  readonly generation?: boolean;
  /** An update without a resourceVersion is refused. */
  readonly needsVersion?: boolean;
  /** Deleting answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** Deleting leaves the dependents alone unless told otherwise. */
  readonly orphans?: boolean;
  /** What names look like: a DNS subdomain unless said otherwise. */
  readonly names?: 'label' | 'path';
  /** Field selectors besides metadata.name and metadata.namespace. */
  readonly fields?: readonly string[];
  readonly spec?: z.ZodType;
  readonly statusShape?: z.ZodType;
  /** Another face of a stored type: same objects, other fields. */
  readonly alias?: Alias | undefined;
  readonly custom?: CustomType | undefined;
  /** The type of its objects; never set. */
  readonly holds?: T;
}

interface CustomType {
  readonly schema: Record<string, unknown> | undefined;
  readonly columns: readonly {
    name: string;
    type: string;
    jsonPath: string;
    priority?: number | undefined;
  }[];
}

type Options = Omit<
  ResourceType,
  'group' | 'version' | 'kind' | 'plural' | 'singular' | 'namespaced' | 'holds'
>;

const define =
  (groupVersion: string) =>
  <T extends KubeObject = KubeObject>(
    kind: string,
    plural: string,
    options: Options & { clusterWide?: true } = {},
  ) => {
    const { clusterWide, ...rest } = options;
    const [group = '', version = groupVersion] = groupVersion.includes('/') ? groupVersion.split('/') : [''];
    const type: ResourceType<T> = {
      group,
      version,
      kind,
      plural,
      singular: kind.toLowerCase(),
      namespaced: !clusterWide,
      ...rest,
    };
    return type;
  };

const core = define('v1');
const apps = define('apps/v1');
const batch = define('batch/v1');
const storage = define('storage.k8s.io/v1');
const rbac = define('rbac.authorization.k8s.io/v1');

const workload = {
  status: true,
  generation: true,
  categories: ['all'],
  spec: shape.WorkloadSpec,
  statusShape: shape.WorkloadStatus,
};
const clusterWide = true;

export const pods = core<shape.Pod>('Pod', 'pods', {
  shortNames: ['po'],
  categories: ['all'],
  status: true,
  generation: true,
  returnsDeleted: true,
  spec: shape.PodSpec,
  statusShape: shape.PodStatus,
  fields: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
});
export const nodes = core<shape.Node>('Node', 'nodes', {
  clusterWide,
  shortNames: ['no'],
  status: true,
  createsStatus: true,
  spec: shape.NodeSpec,
  statusShape: shape.NodeStatus,
  fields: ['spec.unschedulable'],
});
export const namespaces = core<shape.Namespace>('Namespace', 'namespaces', {
  clusterWide,
  shortNames: ['ns'],
  status: true,
  names: 'label',
  fields: ['status.phase', 'name'],
});
const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
export const events = core('Event', 'events', {
  shortNames: ['ev'],
  fields: [
    ...involved.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
});
export const serviceAccounts = core('ServiceAccount', 'serviceaccounts', {
  shortNames: ['sa'],
  returnsDeleted: true,
});
export const persistentVolumeClaims = core('PersistentVolumeClaim', 'persistentvolumeclaims', {
  shortNames: ['pvc'],
  status: true,
  returnsDeleted: true,
});
export const leases = define('coordination.k8s.io/v1')('Lease', 'leases', {
  needsVersion: true,
  spec: shape.LeaseSpec,
});
export const disruptionBudgets = define('policy/v1')<shape.DisruptionBudget>(
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  {
    shortNames: ['pdb'],
    status: true,
    generation: true,
    needsVersion: true,
    spec: shape.DisruptionBudgetSpec,
    statusShape: shape.DisruptionBudgetStatus,
  },
);
export const deployments = apps<shape.Workload>('Deployment', 'deployments', {
  ...workload,
  shortNames: ['deploy'],
  scale: true,
});
export const replicaSets = apps<shape.Workload>('ReplicaSet', 'replicasets', {
  ...workload,
  shortNames: ['rs'],
  scale: true,
  fields: ['status.replicas'],
});
export const daemonSets = apps<shape.Workload>('DaemonSet', 'daemonsets', {
  ...workload,
  shortNames: ['ds'],
});
export const statefulSets = apps<shape.Workload>('StatefulSet', 'statefulsets', {
  ...workload,
  shortNames: ['sts'],
  scale: true,
});
export const jobs = batch<shape.Workload>('Job', 'jobs', {
  ...workload,
  orphans: true,
  fields: ['status.successful'],
});
export const priorityClasses = define('scheduling.k8s.io/v1')<
  KubeObject & { value?: number; globalDefault?: boolean }
>('PriorityClass', 'priorityclasses', { clusterWide, shortNames: ['pc'], generation: true });
export const definitions = define('apiextensions.k8s.io/v1')<shape.CustomResourceDefinition>(
  'CustomResourceDefinition',
  'customresourcedefinitions',
  {
    clusterWide,
    shortNames: ['crd', 'crds'],
    status: true,
    generation: true,
    needsVersion: true,
    spec: shape.DefinitionSpec,
  },
);

export const builtinTypes: readonly ResourceType[] = [
  pods,
  nodes,
  namespaces,
  events,
  serviceAccounts,
  persistentVolumeClaims,
  core('ConfigMap', 'configmaps', { shortNames: ['cm'] }),
  core('Secret', 'secrets', { fields: ['type'] }),
  core('Service', 'services', {
    shortNames: ['svc'],
    categories: ['all'],
    status: true,
    returnsDeleted: true,
    names: 'label',
  }),
  core('Endpoints', 'endpoints', { shortNames: ['ep'] }),
  core('PersistentVolume', 'persistentvolumes', {
    clusterWide,
    shortNames: ['pv'],
    status: true,
    returnsDeleted: true,
  }),
  core('ReplicationController', 'replicationcontrollers', {
    shortNames: ['rc'],
    categories: ['all'],
    status: true,
    generation: true,
    orphans: true,
    fields: ['status.replicas'],
  }),
  define('events.k8s.io/v1')('Event', 'events', { shortNames: ['ev'], alias: aliasOfCoreEvents(involved) }),
  leases,
  disruptionBudgets,
  deployments,
  replicaSets,
  daemonSets,
  statefulSets,
  jobs,
  batch('CronJob', 'cronjobs', { shortNames: ['cj'], categories: ['all'], status: true, generation: true }),
  storage('StorageClass', 'storageclasses', { clusterWide, shortNames: ['sc'], returnsDeleted: true }),
  storage('VolumeAttachment', 'volumeattachments', { clusterWide, status: true, returnsDeleted: true }),
  storage('CSINode', 'csinodes', { clusterWide, returnsDeleted: true }),
  priorityClasses,
  rbac('Role', 'roles', { names: 'path' }),
  rbac('RoleBinding', 'rolebindings', { names: 'path' }),
  rbac('ClusterRole', 'clusterroles', { clusterWide, names: 'path' }),
  rbac('ClusterRoleBinding', 'clusterrolebindings', { clusterWide, names: 'path' }),
  definitions,
];

export const groupVersionOf = (type: ResourceType) =>
  type.group ? `${type.group}/${type.version}` : type.version;
