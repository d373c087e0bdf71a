import type { ClusterView, DaemonSet, Labels, Node, Taint, Toleration } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Snapshot } from '../decide/snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import {
  commonLabels,
  futureNode,
  labelOfMachine,
  taintsOfMachine,
  usualPods,
  withSlice,
} from './machine-node.ts';
import { askHolds, type NodeClass } from './node-filter.ts';
import type { PodKind } from './pod-class.ts';
import type { Kinds } from './pod-classes.ts';
import { labelOf } from './requirements.ts';
import { lasting } from './taints.ts';
import { domainsOf, type Topology, writeDomains } from './topology.ts';
import { type Asked, nodeName, visible, visibleText } from './visible-labels.ts';

/** All there is to know about a place before any pod is on it. */
export interface Site {
  readonly name: string;
  readonly labels: Labels;
  readonly node: Node | undefined;
  readonly machine: Machine | undefined;
  /** Why it takes no pods. */
  readonly shut: Reason | undefined;
  readonly nodeClass: NodeClass;
  readonly allocatable: Resources;
  readonly free: Float64Array;
  readonly domains: Int32Array;
  /** Pods of DaemonSets that will be there, and are not yet. */
  readonly daemons: readonly PodKind[];
}

export interface Sites {
  /** Nodes that are there and machines that are coming, one site each. */
  existing(): Site[];
  ofMachine(machine: Machine): Site;
  /**
   * The same in numbers, without making a site of it: what is free and its domains go into rows of others, the number
   * of its class is returned.
   */
  sketch(machine: Machine, free: Float64Array, domains: Int32Array, row: number): number;
  classify(labels: Labels, name: string, taints: readonly Taint[], cordoned: boolean): NodeClass;
  /** What was worked out before something new was asked for is no longer enough. */
  forget(): void;
}

interface Sources {
  readonly snapshot: Snapshot;
  /** Left out: every machine that serves has long started. */
  readonly now?: number | undefined;
  readonly kinds: Kinds;
  readonly asked: Asked;
  readonly topology: Topology;
  readonly columns: ReadonlyMap<string, number>;
}

export function createSites({ snapshot, now = Infinity, kinds, asked, topology, columns }: Sources): Sites {
  const { cluster, machines, pools } = snapshot;
  const nodes = new Map(cluster.nodes.map((node) => [node.name, node]));
  const common = commonLabels(cluster.nodes);
  const poolOf = new Map(pools.map((pool) => [pool.name, pool]));
  const daemons = (cluster.daemonSets ?? []).map((set) => ({
    name: daemonName(set),
    kind: kinds.kindOf(daemonPod(set)),
  }));
  const daemonsOn = daemonsByNode(cluster);
  const classes = new Map<string, NodeClass>();
  const known = new Map<Machine, Site>();

  const classText = (
    labelAt: (key: string) => string | undefined,
    name: string,
    taints: readonly Taint[],
    cordoned: boolean,
  ): string =>
    `${visibleText(asked, labelAt, name)}${taints.length > 0 ? JSON.stringify(taints) : ''}${cordoned}`;
  const classify: Sites['classify'] = (labels, name, taints, cordoned) => {
    const text = classText((key) => labelOf(labels, key), name, taints, cordoned);
    let nodeClass = classes.get(text);
    if (!nodeClass) {
      const { [nodeName]: seenName = '', ...seen } = visible(asked, { ...labels, [nodeName]: name });
      nodeClass = { id: classes.size, labels: seen, name: seenName, taints, cordoned };
      classes.set(text, nodeClass);
    }
    return nodeClass;
  };
  const freeOn = (allocatable: Resources): Float64Array => {
    const row = new Float64Array(columns.size);
    for (const [name, column] of columns) row[column] = allocatable[name] ?? 0;
    return row;
  };

  /** Known only of a machine that has joined so lately that they may still be on its node. */
  const startupTaintsOf = ({ spec, status }: Machine): readonly Taint[] | undefined => {
    const pool = poolOf.get(spec.pool);
    return pool && now - (status.joinTime ?? 0) < pool.provisionTimeoutMs ? pool.startupTaints : undefined;
  };

  const ofNode = (node: Node, machine: Machine | undefined): Site => {
    const allocatable = machine ? withSlice(machine, node.allocatable) : node.allocatable;
    const taints = lasting(node, machine && startupTaintsOf(machine));
    return {
      name: node.name,
      labels: node.labels,
      node,
      machine,
      shut:
        machine && capacityOf(machine) === 'leaving'
          ? { code: 'being-drained' }
          : node.ready
            ? undefined
            : { code: 'place-not-ready' },
      nodeClass: classify(node.labels, node.name, taints, node.unschedulable),
      allocatable,
      free: freeOn(allocatable),
      domains: domainsOf(topology, node.labels),
      daemons: [],
    };
  };

  const ofFuture = (machine: Machine, node: Node | undefined, there: ReadonlySet<string>): Site => {
    const { labels, taints, allocatable } = futureNode(machine, poolOf.get(machine.spec.pool), common, node);
    const name = node?.name ?? machine.spec.name;
    const nodeClass = classify(labels, name, taints, false);
    const free = freeOn(allocatable);
    const domains = domainsOf(topology, labels);
    return {
      name,
      labels,
      node,
      machine,
      shut: undefined,
      nodeClass,
      allocatable,
      free,
      domains,
      // The DaemonSet controller looks at labels and taints only.
      daemons: daemons
        .filter((daemon) => !there.has(daemon.name) && askHolds(daemon.kind.ask, nodeClass))
        .map(({ kind }) => kind),
    };
  };

  return {
    classify,
    existing() {
      const machineOf = new Map<string, Machine>();
      const coming: Machine[] = [];
      for (const machine of machines) {
        const node = nodes.get(machine.status.kubernetesNode ?? machine.spec.name);
        if (node) machineOf.set(node.name, machine);
        else if (capacityOf(machine) === 'coming') coming.push(machine);
      }
      return [
        ...cluster.nodes.map((node) => {
          const machine = machineOf.get(node.name);
          return machine && capacityOf(machine) === 'coming'
            ? ofFuture(machine, node, daemonsOn.get(node.name) ?? none)
            : ofNode(node, machine);
        }),
        ...coming.map((machine) => ofFuture(machine, undefined, none)),
      ];
    },
    ofMachine(machine) {
      let site = known.get(machine);
      if (!site) {
        // What runs on a node that is away will not be there when it is back.
        site = ofFuture(machine, nodes.get(machine.status.kubernetesNode ?? machine.spec.name), none);
        known.set(machine, site);
      }
      return site;
    },
    sketch(machine, free, domains, row) {
      const { spec } = machine;
      const node = nodes.get(machine.status.kubernetesNode ?? spec.name);
      if (node) {
        const site = this.ofMachine(machine);
        free.set(site.free, row * columns.size);
        domains.set(site.domains, row * topology.keys.length);
        return site.nodeClass.id;
      }
      const pool = poolOf.get(spec.pool);
      const labelAt = (key: string): string | undefined => labelOfMachine(machine, pool, common, key);
      for (const [name, column] of columns)
        free[row * columns.size + column] = spec.resources[name] ?? (name === 'pods' ? usualPods : 0);
      writeDomains(topology, labelAt, domains, row * topology.keys.length);
      const text = classText(labelAt, spec.name, taintsOfMachine(machine, pool), false);
      return (classes.get(text) ?? this.ofMachine(machine).nodeClass).id;
    },
    forget: () => known.clear(),
  };
}

const none: ReadonlySet<string> = new Set();

const daemonName = ({ namespace, name }: { namespace: string; name: string }): string =>
  `${namespace}/${name}`;

/** Tolerations that every pod of a DaemonSet gets. */
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

export const daemonPod = ({ template }: DaemonSet) => ({
  ...template,
  tolerations: [...template.tolerations, ...daemonTolerations],
});

/** Which DaemonSets have their pod on a node already. */
function daemonsByNode({ pods }: ClusterView): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { node, finished, owner, namespace } of pods) {
    if (!node || finished || owner?.kind !== 'DaemonSet') continue;
    const there = found.get(node) ?? new Set();
    found.set(node, there.add(daemonName({ namespace, name: owner.name })));
  }
  return found;
}
