/** What a pool is expected to need, as of the last sample of its history. */
export interface PoolForecast {
  readonly pool: string;
  /** Machines that are needed now. */
  readonly needed: number;
  /** So many are to be on within the lead. */
  readonly atLeast: number;
  /** So many of those that are on stay on. */
  readonly keep: number;
  readonly confidence: number;
  readonly leadMs: number;
  readonly horizonMs: number;
  readonly method: string;
  /** What it was learned from. */
  readonly samples: number;
  /** What each method would have cost: machines idle or missing per step. */
  readonly costs: Readonly<Record<string, number>>;
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)}m`;
const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

export const whyAhead = ({ pool, atLeast, confidence, leadMs, method }: PoolForecast): string =>
  `the forecast (${method}, ${percent(confidence)} sure) expects pool ${pool} to need ${atLeast} within ${minutes(leadMs)}`;

export const whyKept = ({ pool, keep, horizonMs, method }: PoolForecast): string =>
  `the forecast (${method}) expects pool ${pool} to need up to ${keep} again within ${minutes(horizonMs)}`;

/** Which forecast, how sure, and what it was compared with. */
export function describeForecast(forecast: PoolForecast): string {
  const { needed, keep, horizonMs, samples, costs, method } = forecast;
  const others = Object.entries(costs)
    .filter(([name]) => name !== method)
    .sort(([, a], [, b]) => a - b)
    .map(([name, cost]) => `${name} ${cost.toFixed(2)}`);
  return `${whyAhead(forecast)}, keeps ${keep} for ${minutes(horizonMs)}; ${needed} are needed now; over ${samples} samples ${method} had ${(costs[method] ?? 0).toFixed(2)} machines idle or missing per step, ${others.join(', ')}`;
}
