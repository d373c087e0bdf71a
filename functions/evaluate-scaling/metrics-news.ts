import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import type { Use } from '../../shared/core/cluster/node-use.ts';
import { utilizationNews } from '../../shared/core/cluster/utilization.ts';
import type { Decision } from '../../shared/core/decide/decision.ts';
import type { MachineMetrics } from '../../shared/core/machine/machine.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { MetricsNews } from '../../shared/state/machine-writes.ts';

/** What an evaluation found about machines and is not stored yet: since when they are idle, and utilization. */
export function metricsNews(
  { idle }: Pick<Decision, 'idle'>,
  records: readonly MachineRecord[],
  cluster: ClusterView,
  use: Use,
  now: number,
): MetricsNews[] {
  const news = new Map<string, MachineMetrics>(
    idle.map(({ machine, idleSince }) => [machine, { idleSince }]),
  );
  for (const { machine, utilization } of utilizationNews(records, cluster, use, now))
    news.set(machine, { ...news.get(machine), utilization });
  return records.flatMap((record) => {
    const metrics = news.get(record.spec.name);
    return metrics ? [{ record, metrics }] : [];
  });
}
