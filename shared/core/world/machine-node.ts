import type { Labels, Node } from '../cluster.ts';
import type { Machine, Taint } from '../machine.ts';
import { larger, type Resources } from '../resources.ts';
import type { PoolSpec } from '../settings.ts';
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
    'bamel.dev/machine': spec.name,
    'bamel.dev/pool': spec.pool,
  };
  const startupTaints = pool?.startupTaints ?? [];
  const own = [...(spec.taints ?? []), ...(spec.taints ? [] : (pool?.template.taints ?? []))];
  const others = (known?.taints ?? []).filter(
    (taint) => !own.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return {
    labels: { ...declared, ...known?.labels },
    taints: [...own, ...others].filter((taint) => !isPassing(taint, startupTaints)),
    allocatable:
      known && (known.allocatable.cpu ?? 0) > 0
        ? withSlice(machine, known.allocatable)
        : { pods: usualPods, ...spec.resources },
  };
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
