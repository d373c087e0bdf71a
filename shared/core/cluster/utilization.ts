import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine, Utilization } from '../machine/machine.ts';
import type { ClusterView } from './cluster.ts';
import type { Use } from './node-use.ts';

/** Values that stay about the same are written again only after this. */
const refreshMs = 600_000;
const shareThatCounts = 0.05;
/** Writes of one evaluation: the other machines of a large fleet follow in the next ones. */
const maxNews = 450;

export interface UtilizationNews {
  readonly machine: string;
  /** Undefined: the machine does not serve any more. */
  readonly utilization: Utilization | undefined;
}

/** The machines whose stored utilization differs from what their nodes' pods request now, the oldest first. */
export function utilizationNews(
  machines: readonly Machine[],
  { nodes }: Pick<ClusterView, 'nodes'>,
  use: Use,
  now: number,
): UtilizationNews[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const read = (machine: Machine): Utilization | undefined => {
    const node = byName.get(machine.status.kubernetesNode ?? '');
    if (!node || capacityOf(machine) !== 'serving') return undefined;
    const { pods, requests } = use.get(node.name) ?? { pods: 0, requests: {} };
    const share = (name: string): number => round((requests[name] ?? 0) / (node.allocatable[name] || 1));
    return { cpu: share('cpu'), memory: share('memory'), pods, at: now };
  };
  const news = machines.flatMap((machine) => {
    const known = machine.metrics.utilization;
    const utilization = read(machine);
    return isNews(known, utilization)
      ? [{ machine: machine.spec.name, utilization, at: known?.at ?? 0 }]
      : [];
  });
  return news
    .sort((a, b) => a.at - b.at)
    .slice(0, maxNews)
    .map(({ machine, utilization }) => ({ machine, utilization }));
}

function isNews(known: Utilization | undefined, seen: Utilization | undefined): boolean {
  if (!known || !seen) return known !== seen;
  return (
    seen.at - known.at >= refreshMs ||
    seen.pods !== known.pods ||
    Math.abs(seen.cpu - known.cpu) > shareThatCounts ||
    Math.abs(seen.memory - known.memory) > shareThatCounts
  );
}

const round = (share: number): number => Math.round(share * 1_000) / 1_000;
