import type { PoolForecast } from '../forecast/pool-forecast.ts';

const minutes = (ms: number): string => `${Math.round(ms / 60_000)}m`;
const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

const ahead = ({ pool, atLeast, confidence, leadMs, method }: PoolForecast): string =>
  `the forecast (${method}, ${percent(confidence)} sure) expects pool ${pool} to need ${atLeast} within ${minutes(leadMs)}`;

/** What a forecast asks for, and how it was made. */
export const forecastTexts = {
  'forecast-ahead': ahead,
  'forecast-keeps': ({ pool, keep, horizonMs, method }: PoolForecast) =>
    `the forecast (${method}) expects pool ${pool} to need up to ${keep} again within ${minutes(horizonMs)}`,
  /** Which forecast, how sure, and what it was compared with. */
  forecast: (forecast: PoolForecast) => {
    const { needed, keep, horizonMs, samples, costs, method } = forecast;
    const others = Object.entries(costs)
      .filter(([name]) => name !== method)
      .sort(([, a], [, b]) => a - b)
      .map(([name, cost]) => `${name} ${cost.toFixed(2)}`);
    return `${ahead(forecast)}, keeps ${keep} for ${minutes(horizonMs)}; ${needed} are needed now; over ${samples} samples ${method} had ${(costs[method] ?? 0).toFixed(2)} machines idle or missing per step, ${others.join(', ')}`;
  },
};
