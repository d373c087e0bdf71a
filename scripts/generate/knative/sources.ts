import { group, resourceKinds } from '../../../shared/schema/resource-kinds.ts';
import { imageOf } from '../image.ts';
import { brokerRef, brokerToken, labelsOf, namespace, partOf, restricted, settingsName } from './names.ts';
import { delivery } from './triggers.ts';

const account = 'bamel-events';
const sourceName = 'cluster-source';
const sink = { ref: brokerRef };

export const broker = [
  { ...pick(brokerRef), metadata: { name: brokerRef.name, labels: partOf }, spec: { delivery } },
];

function pick({ apiVersion, kind }: typeof brokerRef) {
  return { apiVersion, kind };
}

const mayWatch = (apiGroup: string, resources: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs: ['get', 'list', 'watch'],
});

/** The only process that is always there: it sends what wakes functions, and nothing else. */
const clusterSource = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: sourceName, labels: labelsOf(sourceName) },
  spec: {
    replicas: 1,
    // Two would send everything twice.
    strategy: { type: 'Recreate' },
    selector: { matchLabels: labelsOf(sourceName) },
    template: {
      metadata: { labels: labelsOf(sourceName) },
      spec: {
        serviceAccountName: account,
        containers: [
          {
            name: 'source',
            image: imageOf(),
            env: [
              { name: 'BAMEL_FUNCTION', value: sourceName },
              // It keeps nothing.
              { name: 'BAMEL_STORE', value: 'embedded:' },
              { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
            ],
            envFrom: [{ configMapRef: { name: settingsName } }],
            resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '512Mi' } },
            securityContext: restricted,
            volumeMounts: [brokerToken.mount],
          },
        ],
        volumes: [brokerToken.volume],
      },
    },
  },
};

export const sources = [
  // Where the binding below looks for it, also when this file is applied by itself.
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace, labels: partOf } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: account, labels: partOf },
    rules: [
      mayWatch('', ['pods', 'nodes']),
      mayWatch(
        group,
        Object.values(resourceKinds).map(({ plural }) => plural),
      ),
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: account, labels: partOf },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
  clusterSource,
  {
    apiVersion: 'sources.knative.dev/v1',
    kind: 'PingSource',
    metadata: { name: 'bamel-tick', labels: partOf },
    spec: { schedule: '* * * * *', contentType: 'application/json', data: '{}', sink },
  },
];
