import { forecastPool, type Learned, learn } from '../../shared/core/forecast/forecast-pool.ts';
import type { PoolForecast } from '../../shared/core/forecast/pool-forecast.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import type { Store } from '../../shared/ports/store.ts';
import { readNeeds } from '../../shared/state/need-history.ts';

const usualBootMs = 300_000;

export type ReadForecasts = (
  pools: readonly PoolSpec[],
  machines: readonly Machine[],
  settings: Settings,
  now: number,
) => Promise<readonly PoolForecast[]>;

/** What pools with prewarm are expected to need. Learned anew only when their history has a new value. */
export function createForecasts(store: Store): ReadForecasts {
  const known = new Map<string, { readonly key: string; readonly learned: Learned | undefined }>();
  return async (pools, machines, settings, now) => {
    const forecasts: PoolForecast[] = [];
    for (const pool of pools) {
      const history = pool.prewarm && (await readNeeds(store, pool.name));
      if (!pool.prewarm || !history) continue;
      const members = machines.filter(({ spec }) => spec.pool === pool.name);
      const bootMs = Math.max(0, ...members.map(({ status }) => status.learnedBootMs ?? usualBootMs));
      const key = JSON.stringify([
        history.start,
        history.needs.length,
        history.needs.at(-1),
        pool.prewarm,
        bootMs,
      ]);
      const before = known.get(pool.name);
      const learned = before?.key === key ? before.learned : learn(history, pool.prewarm, bootMs);
      known.set(pool.name, { key, learned });
      const unneededForMs = pool.scaleDown.unneededForMs ?? settings.unneededForMs;
      const rack = { machines: members.length, bootMs, unneededForMs };
      if (learned) forecasts.push(forecastPool(pool, learned, rack, now));
    }
    return forecasts;
  };
}
