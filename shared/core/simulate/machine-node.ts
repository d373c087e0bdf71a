import type { Labels, Node, Taint } from '../cluster/cluster.ts';
import { bamelKeys } from '../cluster/names.ts';
import { larger, type Resources } from '../cluster/resources.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import { labelOf } from './requirements.ts';
import { isPassing } from './taints.ts';
import { hostname } from './topology.ts';

/** What a machine that is not there yet will be as a node. */
export interface FutureNode {
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
}

const os = 'kubernetes.io/os';
const arch = 'kubernetes.io/arch';
/** Of a node that does not say how many it takes. */
export const usualPods = 110;

/** What it was as a node, when it is still known, says more than what was declared. */
export function futureNode(
  machine: Machine,
  pool: PoolSpec | undefined,
  common: Labels,
  known: Node | undefined,
): FutureNode {
  const { spec } = machine;
  const declared: Record<string, string> = {
    ...common,
    [hostname]: spec.name,
    ...(pool?.template.architecture && { [arch]: pool.template.architecture }),
    ...pool?.template.labels,
    ...spec.labels,
    [bamelKeys.machine]: spec.name,
    [bamelKeys.pool]: spec.pool,
  };
  const declaredTaints = spec.taints ?? pool?.template.taints ?? [];
  const others = (known?.taints ?? []).filter(
    (taint) => !declaredTaints.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return {
    labels: { ...declared, ...known?.labels },
    taints: withoutPassing([...declaredTaints, ...others], pool),
    allocatable:
      known && (known.allocatable.cpu ?? 0) > 0
        ? withSlice(machine, known.allocatable)
        : { pods: usualPods, ...spec.resources },
  };
}

const withoutPassing = (taints: readonly Taint[], pool: PoolSpec | undefined): readonly Taint[] =>
  taints.filter((taint) => !isPassing(taint, pool?.startupTaints ?? []));

const noTaints: readonly Taint[] = [];

/** The taints of a machine that no node is known of. */
export function taintsOfMachine({ spec }: Machine, pool: PoolSpec | undefined): readonly Taint[] {
  const declared = spec.taints ?? pool?.template.taints ?? noTaints;
  return declared.length === 0 ? declared : withoutPassing(declared, pool);
}

/** A label of a machine that no node is known of, without making all of them. */
export function labelOfMachine(
  { spec }: Machine,
  pool: PoolSpec | undefined,
  common: Labels,
  key: string,
): string | undefined {
  if (key === bamelKeys.machine) return spec.name;
  if (key === bamelKeys.pool) return spec.pool;
  return (
    (spec.labels && labelOf(spec.labels, key)) ??
    (pool && labelOf(pool.template.labels ?? {}, key)) ??
    (key === arch ? pool?.template.architecture || undefined : undefined) ??
    (key === hostname ? spec.name : labelOf(common, key))
  );
}

/** A slice that has been asked to grow is as large as was asked for, before its node says so. */
export const withSlice = ({ spec }: Machine, allocatable: Resources): Resources =>
  spec.offer === undefined ? allocatable : larger(allocatable, spec.resources);

/** Labels that a node gets by itself, as far as all nodes there are agree on them. */
export function commonLabels(nodes: readonly Node[]): Labels {
  const common: Record<string, string> = {};
  for (const key of [os, arch]) {
    const values = new Set(nodes.map(({ labels }) => labels[key]));
    const [value] = values;
    if (values.size === 1 && value !== undefined) common[key] = value;
  }
  return { [os]: 'linux', ...common };
}
