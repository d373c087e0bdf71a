import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { ReasonCode } from '../../shared/core/reasons/reason.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';

interface Bar {
  /** The code that a decision gives. */
  readonly code: ReasonCode;
  readonly holds: (machine: Machine, pool: PoolSpec | undefined, now: number) => boolean;
}

/** Everything that keeps a machine that gives no capacity from being powered on. */
export const bars: readonly Bar[] = [
  { code: 'pool-undefined', holds: (_machine, pool) => pool === undefined },
  {
    code: 'left-to-cluster-autoscaler',
    holds: (_machine, pool) => pool?.managedBy === 'clusterAutoscaler',
  },
  {
    code: 'in-state',
    holds: ({ status }) => status.state !== 'off',
  },
  { code: 'operation-running', holds: ({ status }) => status.operation !== undefined },
  { code: 'in-maintenance', holds: ({ spec }) => spec.maintenance === true },
  {
    code: 'quarantined',
    holds: ({ status }, _pool, now) => status.retryAt !== undefined && status.retryAt > now,
  },
  { code: 'stays-off', holds: ({ spec }) => spec.powerState === 'off' },
  { code: 'returning', holds: ({ spec }) => spec.made === true },
  { code: 'bmc-silent', holds: ({ status }) => status.bmcReachable === false },
  { code: 'power-not-known', holds: ({ status }) => status.powerState !== 'off' },
  { code: 'unhealthy', holds: ({ metrics }) => metrics.health === 'critical' },
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
