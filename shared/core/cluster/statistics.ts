import { addEnergy } from '../energy/energy-saved.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { ClusterView } from './cluster.ts';
import type { Use } from './node-use.ts';
import { add, type Resources } from './resources.ts';

/** All machines and the nodes that they serve as, at one evaluation. Other tools read it. */
export interface ClusterStatistics {
  readonly at: number;
  /** By state; states without a machine are omitted. */
  readonly machines: Readonly<Record<string, number>>;
  /** What the serving nodes can allocate, and what the pods on them request. */
  readonly capacity: Resources;
  readonly requested: Resources;
  /** Share of the capacity that is requested, by resource. */
  readonly utilization: Readonly<Record<string, number>>;
  readonly pods: { readonly running: number; readonly waiting: number; readonly unmet: number };
  readonly watts: { readonly now: number; readonly ifAllOn: number };
}

interface Observed {
  readonly machines: readonly Machine[];
  readonly cluster: Pick<ClusterView, 'nodes'>;
  readonly use: Use;
  readonly demand: { readonly waiting: number; readonly unmet: number };
}

export function statisticsOf({ machines, cluster, use, demand }: Observed, now: number): ClusterStatistics {
  const serving = new Set(
    machines.flatMap((machine) =>
      capacityOf(machine) === 'serving' ? (machine.status.kubernetesNode ?? []) : [],
    ),
  );
  const nodes = cluster.nodes.filter(({ name }) => serving.has(name));
  const used = nodes.flatMap(({ name }) => use.get(name) ?? []);
  const running = used.reduce((sum, { pods }) => sum + pods, 0);
  const capacity = nodes.map(({ allocatable }) => allocatable).reduce<Resources>(add, {});
  const requested = used.map(({ requests }) => requests).reduce<Resources>(add, {});
  const taken: Resources = { ...requested, pods: running };
  const { watts, allOn } = addEnergy(undefined, machines, now);
  return {
    at: now,
    machines: Object.fromEntries(
      [...Map.groupBy(machines, ({ status }) => status.state)].map(([state, some]) => [state, some.length]),
    ),
    capacity,
    requested,
    utilization: Object.fromEntries(
      Object.entries(capacity).flatMap(([name, amount]) =>
        amount > 0 ? [[name, (taken[name] ?? 0) / amount]] : [],
      ),
    ),
    pods: { running, ...demand },
    watts: { now: Math.round(watts), ifAllOn: Math.round(allOn) },
  };
}
