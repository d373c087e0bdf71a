import type { HostPort, Labels, Node, NodeTerm, Pod, Toleration } from '../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { createSelections } from './facts/selections.ts';
import { createStorage, keysOfVolumes, type Storage, type VolumeAsk, volumeAskOf } from './facts/volumes.ts';
import type { Social } from './social.ts';

/** Pods that every place judges alike. */
export interface Shape extends Social {
  readonly id: number;
  readonly example: Pod;
  /** What it asks for, by column; the number of pods is a column as well. */
  readonly columns: Int32Array;
  readonly amounts: Float64Array;
  readonly where: number;
  readonly tolerance: number;
  readonly volumes: VolumeAsk | undefined;
  readonly impossible: boolean;
  readonly ports: readonly HostPort[];
  /** Equal for shapes that differ by their requests only. */
  readonly manners: number;
  /** Nothing that is on a node keeps it away but lack of room. */
  readonly plain: boolean;
}

interface Where {
  readonly selector: Labels;
  readonly terms: readonly NodeTerm[] | undefined;
}

/** All pods of a snapshot by shape, and what they look at. */
export interface Book {
  readonly snapshot: Snapshot;
  readonly storage: Storage | undefined;
  shapeOf(pod: Pod): Shape;
  readonly shapes: readonly Shape[];
  readonly columns: ReadonlyMap<string, number>;
  readonly wheres: readonly Where[];
  readonly tolerances: readonly (readonly Toleration[])[];
  readonly social: ReturnType<typeof createSelections>;
  /** Labels of nodes that some pod or volume asks for. */
  readonly nodeLabels: ReadonlySet<string>;
  readonly namesMatter: boolean;
  readonly daemons: readonly { readonly name: string; readonly shape: Shape }[];
}

/** Tolerations that the DaemonSet controller gives to its pods. */
const daemonTolerations: readonly Toleration[] = [
  ...['not-ready', 'unreachable'].map((key) => ({ key, effect: 'NoExecute' })),
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map((key) => ({
    key,
    effect: 'NoSchedule',
  })),
].map(({ key, effect }) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect }));

export function createBook(snapshot: Snapshot): Book {
  const { cluster } = snapshot;
  const columns = new Map([['pods', 0]]);
  const columnOf = (name: string): number => {
    const known = columns.get(name) ?? columns.size;
    columns.set(name, known);
    return known;
  };
  const wheres = intern<Where>();
  const tolerances = intern<readonly Toleration[]>();
  const manners = intern<number>();
  const storage = createStorage(cluster);
  const social = createSelections(cluster.namespaces);
  const nodeLabels = new Set(keysOfVolumes(cluster));
  let namesMatter =
    (cluster.claims ?? []).some(({ selectedNode }) => selectedNode !== undefined) ||
    (cluster.volumes ?? []).some(({ nodeAffinity = [] }) =>
      nodeAffinity.some(({ fields }) => fields.length > 0),
    );
  const byText = new Map<string, Shape>();
  const byPod = new Map<Pod, Shape>();
  // Pods of one template share their objects: most are told apart without writing them out.
  const numbers = new Map<object, string>();
  const textOf = (thing: object | undefined): string => {
    if (!thing) return '';
    const known = numbers.get(thing);
    if (known !== undefined) return known;
    const text = JSON.stringify(thing);
    numbers.set(thing, text);
    return text;
  };

  const shapeOf = (pod: Pod): Shape => {
    const known = byPod.get(pod);
    if (known) return known;
    const { requests, nodeSelector, tolerations, rules, labels = {}, namespace, terminating, gates } = pod;
    const manner = `${textOf(nodeSelector)}|${textOf(tolerations)}|${textOf(rules)}|${textOf(labels)}|${namespace}|${terminating}|${gates !== undefined}`;
    const text = `${manner}|${textOf(requests)}`;
    let shape = byText.get(text);
    if (!shape) {
      shape = create(pod, manner);
      byText.set(text, shape);
    }
    byPod.set(pod, shape);
    return shape;
  };

  const create = (pod: Pod, manner: string): Shape => {
    const { rules, nodeSelector, tolerations } = pod;
    for (const key of Object.keys(nodeSelector)) nodeLabels.add(key);
    for (const term of rules?.nodeAffinity ?? []) {
      for (const { key } of term.labels) nodeLabels.add(key);
      if (term.fields.length > 0) namesMatter = true;
    }
    const where = wheres.of(`${textOf(nodeSelector)}|${textOf(rules?.nodeAffinity)}`, {
      selector: nodeSelector,
      terms: rules?.nodeAffinity,
    });
    const tolerance = tolerances.of(textOf(tolerations), tolerations);
    const volumes = volumeAskOf(storage, pod.namespace, rules?.claims);
    const wanted = Object.entries({ ...pod.requests, pods: 1 }).filter(([, amount]) => amount > 0);
    return {
      id: byText.size,
      example: pod,
      columns: Int32Array.from(wanted, ([name]) => columnOf(name)),
      amounts: Float64Array.from(wanted, ([, amount]) => amount),
      where,
      tolerance,
      volumes,
      impossible: pod.gates !== undefined || volumes?.impossible === true,
      ports: rules?.ports ?? [],
      manners: manners.of(manner, 0),
      plain: true,
      ...social.register(pod, where, tolerance),
    };
  };

  const daemons = (cluster.daemonSets ?? []).map(({ namespace, name, template }) => ({
    name: `${namespace}/${name}`,
    shape: shapeOf({ ...template, tolerations: [...template.tolerations, ...daemonTolerations] }),
  }));
  for (const pod of cluster.pods) if (!pod.finished) shapeOf(pod);
  const shapes = [...byText.values()];
  for (const shape of shapes) {
    social.connect(shape, shape.example);
    const { blockers, affinity, spread, ports, volumes } = shape;
    const sociable = blockers.length + spread.length + ports.length + (volumes?.exclusive.length ?? 0) > 0;
    (shape as { plain: boolean }).plain = !sociable && affinity === undefined;
  }
  return {
    snapshot,
    storage,
    shapeOf,
    shapes,
    columns,
    wheres: wheres.items,
    tolerances: tolerances.items,
    social,
    nodeLabels,
    namesMatter,
    daemons,
  };
}

/** Labels of a node as far as pods ask for them, and its taints: nodes of one text are judged alike while empty. */
export const classText = (
  { nodeLabels, namesMatter }: Book,
  { labels, taints, name }: Pick<Node, 'labels' | 'taints' | 'name'>,
  cordoned: boolean,
): string => {
  const seen: string[] = [];
  for (const key of nodeLabels) if (Object.hasOwn(labels, key)) seen.push(`${key}=${labels[key]}`);
  return `${seen.join()}|${taints.length > 0 ? JSON.stringify(taints) : ''}|${cordoned}|${namesMatter ? name : ''}`;
};

function intern<Item>(): { items: Item[]; of(text: string, item: Item): number } {
  const known = new Map<string, number>();
  const items: Item[] = [];
  return {
    items,
    of(text, item) {
      const found = known.get(text);
      if (found !== undefined) return found;
      known.set(text, items.length);
      return items.push(item) - 1;
    },
  };
}
