import type { Container, KubeObject, PodSpec, Toleration, Workload } from './objects.ts';

// What the real server fills in and the lab or its clients rely on.

const waitFiveMinutes = (key: string): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

const containerDefaults = (container: Container): Container => {
  const { requests, limits } = container.resources ?? {};
  return {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    ...container,
    resources: limits
      ? { ...container.resources, requests: { ...limits, ...requests } }
      : (container.resources ?? {}),
    ...(container.ports ? { ports: container.ports.map((port) => ({ protocol: 'TCP', ...port })) } : {}),
  };
};

const podSpecDefaults = (spec: PodSpec, restartPolicy = 'Always'): PodSpec => ({
  restartPolicy,
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  ...spec,
  containers: spec.containers.map(containerDefaults),
  ...(spec.initContainers ? { initContainers: spec.initContainers.map(containerDefaults) } : {}),
});

/** What admission adds to pods, not to pod templates. */
export function admittedPodSpec(spec: PodSpec, priority: number): PodSpec {
  const given = spec.tolerations ?? [];
  const covers = (key: string) =>
    given.some((one) => (one.key === key || !one.key) && (one.effect === 'NoExecute' || !one.effect));
  const tolerations = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
    .filter((key) => !covers(key))
    .map(waitFiveMinutes);
  return {
    serviceAccountName: 'default',
    serviceAccount: 'default',
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    ...podSpecDefaults(spec),
    priority,
    tolerations: [...given, ...tolerations],
  };
}

function withTemplate(spec: Workload['spec'], restartPolicy?: string): Workload['spec'] {
  const podSpec = spec.template?.spec;
  return podSpec
    ? { ...spec, template: { ...spec.template, spec: podSpecDefaults(podSpec, restartPolicy) } }
    : spec;
}

type WorkloadDefaults = (spec: Workload['spec'], uid: string, name: string) => Workload['spec'];

const workloads: Readonly<Record<string, WorkloadDefaults>> = {
  Deployment: (spec) => ({
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    ...withTemplate(spec),
    strategy:
      spec.strategy?.type === 'Recreate'
        ? spec.strategy
        : {
            type: 'RollingUpdate',
            rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%', ...spec.strategy?.rollingUpdate },
          },
  }),
  ReplicaSet: (spec) => ({ replicas: 1, ...withTemplate(spec) }),
  StatefulSet: (spec) => ({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ...withTemplate(spec),
  }),
  DaemonSet: (spec) => ({
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    ...withTemplate(spec),
  }),
  Job: (spec, uid, name) => {
    const single = spec.completions === undefined && spec.parallelism === undefined;
    const full = {
      parallelism: 1,
      ...(single ? { completions: 1 } : {}),
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      ...withTemplate(spec),
    };
    if (spec.manualSelector) return full;
    const labels = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name };
    return {
      ...full,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        ...full.template,
        metadata: {
          ...full.template?.metadata,
          labels: { ...full.template?.metadata?.labels, ...labels, 'controller-uid': uid, 'job-name': name },
        },
      },
    };
  },
};

/** stringData is for writing only: it is kept as data. */
function secretData<T extends KubeObject>(secret: T): T {
  const { stringData, ...rest } = secret as T & { stringData?: Record<string, string>; data?: object };
  if (!stringData) return secret;
  const encoded = Object.entries(stringData).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return { ...(rest as T), data: { ...rest.data, ...Object.fromEntries(encoded) } };
}

/** Defaults that need nothing but the object itself; applied whenever it is written. */
export function withDefaults<T extends KubeObject>(object: T, created: boolean): T {
  if (object.kind === 'Secret') return secretData({ type: 'Opaque', ...object });
  const workload = workloads[object.kind];
  if (!workload || (object.kind === 'Job' && !created)) return object;
  const spec = (object.spec ?? {}) as Workload['spec'];
  return { ...object, spec: workload(spec, object.metadata.uid, object.metadata.name) };
}
