import type { DisruptionBudget, KubeObject, Node, Pod, Workload } from './objects.ts';
import type { ResourceType } from './resource-types.ts';

interface Column {
  readonly name: string;
  readonly type?: string;
  readonly value: (object: KubeObject, now: number) => string | number;
  /** Shown with -o wide only. */
  readonly wide?: boolean;
}

const units = [
  { size: 86_400, unit: 'd' },
  { size: 3_600, unit: 'h' },
  { size: 60, unit: 'm' },
];

function ageOf(timestamp: string | undefined, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp ?? '')) / 1000));
  const fitting = units.find(({ size }) => seconds >= 2 * size);
  return fitting ? `${Math.floor(seconds / fitting.size)}${fitting.unit}` : `${seconds}s`;
}

const column = <T extends KubeObject>(
  name: string,
  value: (object: T) => string | number,
  wide = false,
): Column => ({ name, value: (object) => value(object as T), wide });

const name = column<KubeObject>('Name', ({ metadata }) => metadata.name);
const age: Column = { name: 'Age', value: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now) };

function podStatus({ metadata, spec, status }: Pod): string {
  if (metadata.deletionTimestamp) return 'Terminating';
  if (spec.schedulingGates?.length) return 'SchedulingGated';
  if (status.phase === 'Succeeded') return 'Completed';
  return status.reason ?? status.phase ?? 'Unknown';
}

function nodeStatus({ spec, status }: Node): string {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return `${ready?.status === 'True' ? 'Ready' : 'NotReady'}${spec.unschedulable ? ',SchedulingDisabled' : ''}`;
}

function nodeRoles({ metadata }: Node): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(metadata.labels ?? {})
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
  return roles.join(',') || '<none>';
}

const isReady = ({ status }: Pod) =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
const count = (name: string) => column<Workload>(name, ({ status }) => Number(status[lowerFirst(name)] ?? 0));
const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

const columns: Readonly<Record<string, readonly Column[]>> = {
  Pod: [
    name,
    column<Pod>(
      'Ready',
      (pod) => `${isReady(pod) ? pod.spec.containers.length : 0}/${pod.spec.containers.length}`,
    ),
    column<Pod>('Status', podStatus),
    column<Pod>('Restarts', () => 0),
    age,
    column<Pod>('IP', ({ status }) => String(status.podIP ?? '<none>'), true),
    column<Pod>('Node', ({ spec }) => spec.nodeName ?? '<none>', true),
  ],
  Node: [
    name,
    column<Node>('Status', nodeStatus),
    column<Node>('Roles', nodeRoles),
    age,
    column<Node>('Version', ({ status }) => {
      const info = status.nodeInfo as { kubeletVersion?: string } | undefined;
      return info?.kubeletVersion ?? '';
    }),
  ],
  Namespace: [name, column<Pod>('Status', ({ status }) => status.phase ?? ''), age],
  Deployment: [
    name,
    column<Workload>('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 1}`),
    column<Workload>('Up-to-date', ({ status }) => Number(status.updatedReplicas ?? 0)),
    column<Workload>('Available', ({ status }) => status.availableReplicas ?? 0),
    age,
  ],
  ReplicaSet: [
    name,
    column<Workload>('Desired', ({ spec }) => spec.replicas ?? 1),
    column<Workload>('Current', ({ status }) => status.replicas ?? 0),
    column<Workload>('Ready', ({ status }) => status.readyReplicas ?? 0),
    age,
  ],
  StatefulSet: [
    name,
    column<Workload>('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 1}`),
    age,
  ],
  DaemonSet: [
    name,
    column<Workload>('Desired', ({ status }) => Number(status.desiredNumberScheduled ?? 0)),
    column<Workload>('Current', ({ status }) => Number(status.currentNumberScheduled ?? 0)),
    column<Workload>('Ready', ({ status }) => Number(status.numberReady ?? 0)),
    age,
  ],
  Job: [
    name,
    column<Workload>(
      'Completions',
      ({ spec, status }) => `${status.succeeded ?? 0}/${spec.completions ?? 1}`,
    ),
    count('Active'),
    age,
  ],
  PodDisruptionBudget: [
    name,
    column<DisruptionBudget>('Min available', ({ spec }) => spec.minAvailable ?? 'N/A'),
    column<DisruptionBudget>('Max unavailable', ({ spec }) => spec.maxUnavailable ?? 'N/A'),
    column<DisruptionBudget>('Allowed disruptions', ({ status }) => status.disruptionsAllowed ?? 0),
    age,
  ],
  Event: [
    { name: 'Last seen', value: (object, now) => ageOf(eventField(object, 'lastTimestamp'), now) },
    column('Type', (object) => eventField(object, 'type') ?? ''),
    column('Reason', (object) => eventField(object, 'reason') ?? ''),
    column('Object', (object) => {
      const about = Reflect.get(object, 'involvedObject') as { kind?: string; name?: string } | undefined;
      return `${about?.kind?.toLowerCase()}/${about?.name}`;
    }),
    column('Message', (object) => eventField(object, 'message') ?? ''),
  ],
};

function eventField(object: KubeObject, field: string): string | undefined {
  const value: unknown = Reflect.get(object, field);
  return typeof value === 'string' ? value : undefined;
}

/** `.status.state` and `.status.conditions[?(@.type=="Ready")].status`: what printer columns use. */
function atJsonPath(object: unknown, path: string): unknown {
  const steps = path.matchAll(
    /\.([A-Za-z0-9_-]+)|\[\?\(@\.(\w+)==["']([^"']*)["']\)\]|\[(\d+)\]|\['([^']+)'\]/g,
  );
  let value = object;
  for (const [, field, key, wanted, index, quoted] of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (key !== undefined)
      value = Array.isArray(value)
        ? value.find((item) => Reflect.get(Object(item), key) === wanted)
        : undefined;
    else value = Reflect.get(value, field ?? quoted ?? index ?? '');
  }
  return value;
}

function customColumns(type: ResourceType): Column[] {
  return (type.custom?.columns ?? []).map(({ name: title, type: kind, jsonPath, priority }) => ({
    name: title,
    type: kind === 'date' ? 'string' : kind,
    wide: Boolean(priority),
    value: (object, now) => {
      const value = atJsonPath(object, jsonPath);
      if (value === undefined) return '';
      if (kind === 'date') return ageOf(String(value), now);
      return typeof value === 'number'
        ? value
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
    },
  }));
}

/** What `kubectl get` prints. */
export function tableOf(type: ResourceType, objects: readonly KubeObject[], metadata: object, now: number) {
  const own = type.custom?.columns.length
    ? [name, ...customColumns(type)]
    : (columns[type.kind] ?? [name, age]);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: own.map((one) => ({
      name: one.name,
      type: one.type ?? 'string',
      format: one.name === 'Name' ? 'name' : '',
      description: '',
      priority: one.wide ? 1 : 0,
    })),
    rows: objects.map((object) => ({
      cells: own.map((one) => one.value(object, now)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: object.metadata,
      },
    })),
  };
}
