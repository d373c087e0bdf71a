import type { Labels, Node, Taint } from '../../shared/core/cluster/cluster.ts';
import type { Resources } from '../../shared/core/cluster/resources.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';

/** A node that is there, or a machine as the node it will be: all that is known of it before pods are put on it. */
export interface SpotFacts {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly cordoned: boolean;
  readonly allocatable: Resources;
  readonly machine: Machine | undefined;
  /** Takes no pods, but still counts as a node. */
  readonly shut: boolean;
  /** DaemonSet pods are still to come. */
  readonly future: boolean;
}

const startupPrefixes = [
  'startup-taint.cluster-autoscaler.kubernetes.io/',
  'status-taint.cluster-autoscaler.kubernetes.io/',
  'ignore-taint.cluster-autoscaler.kubernetes.io/',
  'node.cloudprovider.kubernetes.io/uninitialized',
];

const isStartup = (taint: Taint, pool: PoolSpec | undefined): boolean =>
  startupPrefixes.some((prefix) => taint.key.startsWith(prefix)) ||
  (pool?.startupTaints ?? []).some(({ key, effect }) => key === taint.key && effect === taint.effect);

/** Taken away by Kubernetes from a node that has become Ready. */
const lateKeys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export interface SpotSource {
  ofNode(node: Node): SpotFacts;
  /** The machine once it is on and empty. */
  ofMachine(machine: Machine): SpotFacts;
  readonly machineOfNode: ReadonlyMap<string, Machine>;
}

export function createSpotSource({ cluster, machines, pools }: Snapshot, now: number): SpotSource {
  const nodes = new Map(cluster.nodes.map((node) => [node.name, node]));
  const poolOf = new Map(pools.map((pool) => [pool.name, pool]));
  const machineOfNode = new Map<string, Machine>();
  for (const machine of machines) {
    const name = machine.status.kubernetesNode ?? machine.spec.name;
    if (nodes.has(name)) machineOfNode.set(name, machine);
  }
  const common = agreedLabels(cluster.nodes);

  const ofMachine = (machine: Machine): SpotFacts => {
    const { spec, status } = machine;
    const pool = poolOf.get(spec.pool);
    const known = nodes.get(status.kubernetesNode ?? spec.name);
    const declared = spec.taints ?? pool?.template.taints ?? [];
    const added = (known?.taints ?? []).filter(
      (taint) => !declared.some(({ key, effect }) => key === taint.key && effect === taint.effect),
    );
    const architecture = pool?.template.architecture;
    return {
      name: known?.name ?? spec.name,
      labels: {
        ...common,
        'kubernetes.io/hostname': spec.name,
        ...(architecture && { 'kubernetes.io/arch': architecture }),
        ...pool?.template.labels,
        ...spec.labels,
        'bamel.dev/machine': spec.name,
        'bamel.dev/pool': spec.pool,
        ...known?.labels,
      },
      taints: [...declared, ...added].filter(
        (taint) => !taint.key.startsWith('node.kubernetes.io/') && !isStartup(taint, pool),
      ),
      cordoned: false,
      allocatable:
        (known?.allocatable.cpu ?? 0) > 0 ? (known?.allocatable ?? {}) : { pods: 110, ...spec.resources },
      machine,
      shut: false,
      future: true,
    };
  };

  const ofNode = (node: Node): SpotFacts => {
    const machine = machineOfNode.get(node.name);
    if (machine && capacityOf(machine) === 'coming') return ofMachine(machine);
    const pool = machine && poolOf.get(machine.spec.pool);
    const isStarting = pool !== undefined && now - (machine?.status.joinTime ?? 0) < pool.provisionTimeoutMs;
    return {
      name: node.name,
      labels: node.labels,
      taints: node.ready
        ? node.taints.filter(
            (taint) => !lateKeys.includes(taint.key) && !(isStarting && isStartup(taint, pool)),
          )
        : node.taints,
      cordoned: node.unschedulable,
      allocatable: node.allocatable,
      machine,
      shut: !node.ready || (machine !== undefined && capacityOf(machine) === 'leaving'),
      future: false,
    };
  };
  return { ofNode, ofMachine, machineOfNode };
}

/** Operating system and architecture, where all nodes agree on them. */
function agreedLabels(nodes: readonly Node[]): Labels {
  const found: Record<string, string> = { 'kubernetes.io/os': 'linux' };
  for (const key of ['kubernetes.io/os', 'kubernetes.io/arch']) {
    const values = new Set(nodes.map(({ labels }) => labels[key]));
    const [value] = values;
    if (values.size === 1 && value !== undefined) found[key] = value;
  }
  return found;
}
