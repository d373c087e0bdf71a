import { randomUUID } from 'node:crypto';

const since = '2026-01-01T00:00:00Z';
const size = { cpu: '32', memory: '128Gi', pods: '110', 'ephemeral-storage': '400Gi' };
const condition = (type: string, status = 'True', more: object = {}) => ({
  type,
  status,
  lastTransitionTime: since,
  ...more,
});

/** A node as kubelets write them, Ready. */
export const nodeObject = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    uid: randomUUID(),
    creationTimestamp: since,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': `zone-${name.length % 3}`,
    },
  },
  spec: {},
  status: {
    capacity: size,
    allocatable: size,
    addresses: [{ type: 'Hostname', address: name }],
    conditions: [
      condition('Ready'),
      condition('MemoryPressure', 'False'),
      condition('DiskPressure', 'False'),
      condition('PIDPressure', 'False'),
    ],
    images: Array.from({ length: 50 }, (_, index) => ({
      names: [`registry.example/team/image-${index}@sha256:${'0'.repeat(64)}`],
      sizeBytes: 100_000_000 + index,
    })),
  },
});

const toleration = (key: string) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

export interface PodOptions {
  readonly name: string;
  readonly app: string;
  /** Absent: it waits, and the scheduler has said so. */
  readonly node?: string;
  readonly cpu: string;
}

/** A pod of a Deployment as controllers, scheduler and kubelet leave it, with all that they write of no use here. */
export function podObject({ name, app, node, cpu }: PodOptions) {
  const hash = 'b8f7d6c5d';
  const mount = { name: 'kube-api-access', mountPath: '/var/run/secrets', readOnly: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: randomUUID(),
      creationTimestamp: since,
      labels: { app, 'pod-template-hash': hash, 'app.kubernetes.io/part-of': 'shop' },
      annotations: { 'prometheus.io/scrape': 'true', 'example.com/checksum': '0'.repeat(64) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-${hash}`, uid: app, controller: true },
      ],
      managedFields: ['kube-controller-manager', 'kubelet'].map((manager) => ({
        manager,
        operation: 'Update',
        apiVersion: 'v1',
        time: since,
        fieldsType: 'FieldsV1',
        fieldsV1: Object.fromEntries(
          Array.from({ length: 30 }, (_, index) => [`f:field-${index}`, { '.': {}, 'f:value': {} }]),
        ),
      })),
    },
    spec: {
      ...(node && { nodeName: node }),
      serviceAccountName: 'default',
      restartPolicy: 'Always',
      tolerations: [toleration('not-ready'), toleration('unreachable')],
      containers: [
        {
          name: 'main',
          image: 'registry.example/team/main:1',
          resources: { requests: { cpu, memory: '256Mi' } },
          env: Array.from({ length: 20 }, (_, index) => ({
            name: `SETTING_${index}`,
            value: `value ${index}`,
          })),
          volumeMounts: [mount],
        },
      ],
      volumes: [
        {
          name: mount.name,
          projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
        },
      ],
    },
    status: node
      ? {
          phase: 'Running',
          qosClass: 'Burstable',
          startTime: since,
          conditions: [
            condition('PodScheduled'),
            condition('Initialized'),
            condition('Ready'),
            condition('ContainersReady'),
          ],
          containerStatuses: [
            {
              name: 'main',
              ready: true,
              restartCount: 0,
              image: 'registry.example/team/main:1',
              imageID: `registry.example/team/main@sha256:${'0'.repeat(64)}`,
              state: { running: { startedAt: since } },
            },
          ],
        }
      : {
          phase: 'Pending',
          conditions: [
            condition('PodScheduled', 'False', { reason: 'Unschedulable', message: 'Insufficient cpu.' }),
          ],
        },
  };
}
