import { brokerRef, labelsOf, partOf } from './names.ts';
import { delivery } from './triggers.ts';
import { watchedCluster, watchedResources } from './watched.ts';

const account = 'bamel-events';
const sink = { ref: brokerRef };

/** Unless a kustomization names another. */
const namespace = 'bamel';

export const broker = [
  { ...pick(brokerRef), metadata: { name: brokerRef.name, labels: partOf }, spec: { delivery } },
  // Tells every function where the broker is: K_SINK.
  {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'SinkBinding',
    metadata: { name: 'bamel', labels: partOf },
    spec: {
      subject: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', selector: { matchLabels: partOf } },
      sink,
    },
  },
];

function pick({ apiVersion, kind }: typeof brokerRef) {
  return { apiVersion, kind };
}

const apiServerSource = (name: string, watched: typeof watchedCluster) => ({
  apiVersion: 'sources.knative.dev/v1',
  kind: 'ApiServerSource',
  metadata: { name, labels: labelsOf(name) },
  spec: {
    serviceAccountName: account,
    // Only the wake-up counts: what changed is read from the cluster.
    mode: 'Reference',
    resources: watched.map(({ apiVersion, kind }) => ({ apiVersion, kind })),
    // All of them; without it only our own namespace, and no nodes.
    namespaceSelector: {},
    sink,
  },
});

const rule = (watched: typeof watchedCluster) => ({
  apiGroups: [...new Set(watched.map(({ apiVersion }) => apiVersion.replace(/\/?v1[^/]*$/, '')))],
  resources: watched.map(({ plural }) => plural),
  verbs: ['get', 'list', 'watch'],
});

export const sources = [
  // Where the binding below looks for it, also when this file is applied by itself.
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace, labels: partOf } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: account, labels: partOf },
    rules: [rule(watchedCluster), rule(watchedResources)],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account, labels: partOf },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
  apiServerSource('bamel-cluster', watchedCluster),
  apiServerSource('bamel-resources', watchedResources),
  {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'PingSource',
    metadata: { name: 'bamel-tick', labels: partOf },
    spec: { schedule: '* * * * *', contentType: 'application/json', data: '{}', sink },
  },
];
