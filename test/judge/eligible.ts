import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';

interface Bar {
  /** How a decision tells it. */
  readonly told: RegExp;
  readonly holds: (machine: Machine, pool: PoolSpec | undefined, now: number) => boolean;
}

/** Everything that keeps a machine that gives no capacity from being powered on. */
export const bars: readonly Bar[] = [
  { told: /^its pool \S+ is not defined$/, holds: (_machine, pool) => pool === undefined },
  {
    told: /^pool \S+ is left to the Cluster Autoscaler$/,
    holds: (_machine, pool) => pool?.managedBy === 'clusterAutoscaler',
  },
  {
    told: /^(quarantined after a failure|in the hands of a person)/,
    holds: ({ status }) => status.state !== 'off',
  },
  { told: /^operation \S+ is under way$/, holds: ({ status }) => status.operation !== undefined },
  { told: /^it is in maintenance$/, holds: ({ spec }) => spec.maintenance === true },
  {
    told: /^it is quarantined: /,
    holds: ({ status }, _pool, now) => status.retryAt !== undefined && status.retryAt > now,
  },
  { told: /^it (stays off|is to stay off)/, holds: ({ spec }) => spec.powerState === 'off' },
  { told: /^it was made on demand/, holds: ({ spec }) => spec.made === true },
  { told: /^its BMC does not answer$/, holds: ({ status }) => status.bmcReachable === false },
  { told: /^its power is \S+: not known to be off$/, holds: ({ status }) => status.powerState !== 'off' },
  { told: /^it is unhealthy: /, holds: ({ metrics }) => metrics.health === 'critical' },
];

export const isEligible = (machine: Machine, pool: PoolSpec | undefined, now: number): boolean =>
  capacityOf(machine) === 'none' && !bars.some(({ holds }) => holds(machine, pool, now));

/** Waiting pods that are demand. */
export const demandOf = ({ cluster, settings }: Snapshot): Pod[] =>
  cluster.pods.filter(
    (pod) =>
      pod.unschedulable !== undefined &&
      !pod.node &&
      !pod.finished &&
      !pod.terminating &&
      !pod.belongsToNode &&
      !pod.nominatedNode &&
      (pod.priority ?? 0) >= settings.priorityCutoff,
  );

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Whether the pod has waited long enough to ask the pool for a machine. */
export function mayAsk(pod: Pod, pool: PoolSpec, { settings }: Snapshot, now: number): boolean {
  const waited = now - pod.createdAt;
  const delay = /^(\d+)([smh])$/.exec(
    pod.annotations?.['cluster-autoscaler.kubernetes.io/pod-scale-up-delay'] ?? '',
  );
  const ownMs = delay ? Number(delay[1]) * (units[delay[2] ?? 's'] ?? 0) : 0;
  return waited >= ownMs && waited >= (pool.scaleUp.stabilizationWindowMs ?? settings.stabilizationWindowMs);
}
