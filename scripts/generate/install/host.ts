import { imageOf } from '../image.ts';
import { labelsOf } from '../knative/names.ts';
import { networkPolicies } from './network.ts';
import { hostAccount } from './rbac.ts';

const name = 'bamel-host';
const labels = labelsOf(name);
const metadata = { name, labels };
const port = 8080;
/** Health and metrics, without a token: the policy says who reaches it. */
const healthPort = 8081;
const storeFolder = '/var/lib/bamel';
const tokenFolder = '/etc/bamel/token';
const controlPlane = 'node-role.kubernetes.io/control-plane';

const settings = (store: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data: {
    BAMEL_STORE: store,
    BAMEL_CONFIG: 'resources:',
    BAMEL_HOST: '0.0.0.0',
    PORT: String(port),
    BAMEL_HEALTH_PORT: String(healthPort),
    BAMEL_TOKEN_FILE: `${tokenFolder}/token`,
    LOG_LEVEL: 'info',
  },
});

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'bamel', labels },
  spec: {
    selector: labels,
    ports: [
      { name: 'http', port, targetPort: 'http' },
      { name: 'health', port: healthPort, targetPort: 'health' },
    ],
  },
};

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'bamel-store', labels },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata,
  spec: { minAvailable: 1, selector: { matchLabels: labels } },
};

const probe = (path: string, more: object) => ({ httpGet: { path, port: 'health' }, ...more });

const container = (mounts: readonly object[]) => ({
  name: 'host',
  image: imageOf(),
  envFrom: [{ configMapRef: { name } }],
  // The node it runs on is never powered off.
  env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
  ports: [
    { name: 'http', containerPort: port },
    { name: 'health', containerPort: healthPort },
  ],
  livenessProbe: probe('/health/liveness', { periodSeconds: 10, failureThreshold: 6 }),
  readinessProbe: probe('/health/readiness', { periodSeconds: 5, timeoutSeconds: 5 }),
  resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '512Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [{ name: 'token', mountPath: tokenFolder, readOnly: true }, ...mounts],
});

interface Shape {
  readonly replicas: number;
  readonly strategy: string;
  readonly mounts: readonly object[];
  readonly volumes: readonly object[];
}

const deployment = ({ replicas, strategy, mounts, volumes }: Shape) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas,
    strategy: { type: strategy },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: hostAccount,
        // A step under way is finished, up to 25 s.
        terminationGracePeriodSeconds: 40,
        priorityClassName: 'system-cluster-critical',
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_532,
          runAsGroup: 65_532,
          fsGroup: 65_532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        // Best where no node is ever powered off.
        tolerations: [{ key: controlPlane, operator: 'Exists', effect: 'NoSchedule' }],
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, preference: { matchExpressions: [{ key: controlPlane, operator: 'Exists' }] } },
            ],
          },
        },
        ...(replicas > 1 && {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
        }),
        containers: [container(mounts)],
        volumes: [{ name: 'token', secret: { secretName: 'bamel-token' } }, ...volumes],
      },
    },
  },
});

/** One process with its store in a file. */
export const single: readonly object[] = [
  settings(`embedded:${storeFolder}/bamel.db`),
  service,
  claim,
  ...networkPolicies(name, port, healthPort),
  deployment({
    replicas: 1,
    // Only one process may have the file open.
    strategy: 'Recreate',
    mounts: [{ name: 'store', mountPath: storeFolder }],
    volumes: [{ name: 'store', persistentVolumeClaim: { claimName: 'bamel-store' } }],
  }),
];

/** Two processes on one etcd: whichever holds a machine's lease works on it. */
export const highlyAvailable: readonly object[] = [
  settings('etcd://bamel-etcd:2379'),
  service,
  budget,
  ...networkPolicies(name, port, healthPort),
  deployment({ replicas: 2, strategy: 'RollingUpdate', mounts: [], volumes: [] }),
];
