import type { PodsReport } from './pods-compare.ts';
import { aligned } from './report.ts';

export function podsTable(source: string, { machines, pods, days, rows }: PodsReport): string {
  const titles = ['POLICY', 'MACHINES OFF', 'WAKE-UPS/DAY', 'PODS THAT WAITED', 'P50', 'P99', 'NEVER PLACED'];
  const cells = rows.map((row) => [
    row.policy,
    row.machinesOff.toFixed(2),
    row.wakeUpsPerDay.toFixed(1),
    String(row.podsThatWaited),
    `${row.waitP50Seconds}s`,
    `${row.waitP99Seconds}s`,
    String(row.neverPlaced),
  ]);
  return [
    `${source}: ${pods} pods on ${machines} machines, ${days} days`,
    '',
    ...aligned([titles, ...cells], new Set([0])),
    '',
    'Reactive and forecast ran through the decisions themselves. P50 and P99 are how long pods waited for a node.',
    'The oracle packs pods without gaps and is Ready in time: no real policy reaches it.',
    '',
  ].join('\n');
}
