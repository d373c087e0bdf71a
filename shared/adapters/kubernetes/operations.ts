import type {
  AppsV1Api,
  BatchV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  EventsV1Api,
  PolicyV1Api,
  StorageV1Api,
} from '@kubernetes/client-node';

const custom = '/apis/{group}/{version}';
const customObject = `${custom}/namespaces/{namespace}/{plural}/{name}`;

/** The operations on the API server, named as in client-node. Patches are merge patches. */
export const operations = {
  core: {
    listPodForAllNamespaces: 'GET /api/v1/pods',
    listNamespace: 'GET /api/v1/namespaces',
    listPersistentVolume: 'GET /api/v1/persistentvolumes',
    listPersistentVolumeClaimForAllNamespaces: 'GET /api/v1/persistentvolumeclaims',
    listNamespacedPod: 'GET /api/v1/namespaces/{namespace}/pods',
    readNamespacedSecret: 'GET /api/v1/namespaces/{namespace}/secrets/{name}',
    readNamespacedConfigMap: 'GET /api/v1/namespaces/{namespace}/configmaps/{name}',
    readNode: 'GET /api/v1/nodes/{name}',
    patchNode: 'PATCH /api/v1/nodes/{name}',
    deleteNode: 'DELETE /api/v1/nodes/{name}',
    deleteNamespacedPod: 'DELETE /api/v1/namespaces/{namespace}/pods/{name}',
    createNamespacedPodEviction: 'POST /api/v1/namespaces/{namespace}/pods/{name}/eviction',
    createNamespacedEvent: 'POST /api/v1/namespaces/{namespace}/events',
  },
  batch: {
    createNamespacedJob: 'POST /apis/batch/v1/namespaces/{namespace}/jobs',
    readNamespacedJob: 'GET /apis/batch/v1/namespaces/{namespace}/jobs/{name}',
    listNamespacedJob: 'GET /apis/batch/v1/namespaces/{namespace}/jobs',
    createNamespacedCronJob: 'POST /apis/batch/v1/namespaces/{namespace}/cronjobs',
    readNamespacedCronJob: 'GET /apis/batch/v1/namespaces/{namespace}/cronjobs/{name}',
    replaceNamespacedCronJob: 'PUT /apis/batch/v1/namespaces/{namespace}/cronjobs/{name}',
  },
  coordination: {
    readNamespacedLease: 'GET /apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}',
  },
  apps: { listDaemonSetForAllNamespaces: 'GET /apis/apps/v1/daemonsets' },
  storage: {
    listStorageClass: 'GET /apis/storage.k8s.io/v1/storageclasses',
    listVolumeAttachment: 'GET /apis/storage.k8s.io/v1/volumeattachments',
  },
  policy: { listPodDisruptionBudgetForAllNamespaces: 'GET /apis/policy/v1/poddisruptionbudgets' },
  events: { createNamespacedEvent: 'POST /apis/events.k8s.io/v1/namespaces/{namespace}/events' },
  custom: {
    getAPIResources: `GET ${custom}`,
    listCustomObjectForAllNamespaces: `GET ${custom}/{resourcePlural}`,
    getNamespacedCustomObject: `GET ${customObject}`,
    patchNamespacedCustomObject: `PATCH ${customObject}`,
    patchNamespacedCustomObjectStatus: `PATCH ${customObject}/status`,
    deleteNamespacedCustomObject: `DELETE ${customObject}`,
  },
} as const satisfies Record<string, Record<string, string>>;

/** Answers are JSON as it came: what client-node's types call a Date is text. */
export interface KubeApis {
  readonly core: Pick<CoreV1Api, keyof typeof operations.core>;
  readonly batch: Pick<BatchV1Api, keyof typeof operations.batch>;
  readonly coordination: Pick<CoordinationV1Api, keyof typeof operations.coordination>;
  readonly apps: Pick<AppsV1Api, keyof typeof operations.apps>;
  readonly storage: Pick<StorageV1Api, keyof typeof operations.storage>;
  readonly policy: Pick<PolicyV1Api, keyof typeof operations.policy>;
  readonly events: Pick<EventsV1Api, keyof typeof operations.events>;
  readonly custom: Pick<CustomObjectsApi, keyof typeof operations.custom>;
}
