import type { TriggerReading } from '../../shared/core/decide/snapshot.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';
import { seconds } from '../../shared/core/text.ts';
import { type Measured, MetricsError } from '../../shared/ports/metrics.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { forEachConcurrently } from '../../shared/process/concurrency.ts';
import {
  readTriggerTimes,
  type TriggerTime,
  updateTriggerTime,
  writeTriggerTimes,
} from '../../shared/state/triggers.ts';
import type { Deps } from '../deps.ts';

/** The result of a query. Without a value the note says why. */
export interface QueryResult {
  readonly value?: number | undefined;
  readonly note?: string | undefined;
}

const maxClockSkewMs = 60_000;

/** The value of a result. Of several series the highest counts: it keeps more capacity. */
export function resultOf({ at, values }: Measured, now: number): QueryResult {
  if (values.length === 0)
    return { note: 'its query gives no data; if that means 0, add "or vector(0)" to it' };
  const off = now - at;
  if (Math.abs(off) > maxClockSkewMs)
    return {
      note: `the answer of Prometheus is as of ${seconds(Math.abs(off))} ${off > 0 ? 'ago' : 'from now'}`,
    };
  const numbers = values.filter(Number.isFinite);
  if (numbers.length === 0) return { note: 'its query gives what is no number (NaN or infinite)' };
  const value = numbers.reduce((most, one) => Math.max(most, one));
  return values.length === 1
    ? { value }
    : { value, note: `its query gives ${values.length} series: the highest number counts` };
}

/** Timeout for all queries of an evaluation together: pods wait for it. */
const queriesTimeoutMs = 2_000;
const atOnce = 8;
/** How long a result is reused, and how long a failed query is not repeated. */
const freshMs = { found: 1_000, failed: 10_000 } as const;

export interface ReadTriggers {
  readonly readings: readonly TriggerReading[];
  /**
   * Stores since when each trigger has been on its side of the threshold, so that a restart does not reset
   * it.
   */
  save(lease: Lease): Promise<void>;
}

/**
 * The current readings of all triggers. Does not throw on errors of Prometheus: unknown values are marked.
 */
export function createTriggers({
  inventory: { store },
  metricsSource,
  clock,
  log,
}: Pick<Deps, 'inventory' | 'metricsSource' | 'clock' | 'log'>): (
  pools: readonly PoolSpec[],
) => Promise<ReadTriggers> {
  let answers = new Map<string, { readonly until: number; readonly found: QueryResult }>();
  let lastLogged = '';

  const runQuery = async (query: string, signal: AbortSignal): Promise<[QueryResult, number]> => {
    if (!metricsSource)
      return [{ note: 'there is no Prometheus to ask: set BAMEL_PROMETHEUS_URL' }, freshMs.found];
    try {
      return [resultOf(await metricsSource.query(query, signal), clock.now()), freshMs.found];
    } catch (error) {
      if (!(error instanceof MetricsError)) throw error;
      return [{ note: error.message }, freshMs.failed];
    }
  };

  const logUnknown = (readings: readonly TriggerReading[]): void => {
    const unknown = readings.filter((one) => one.unknown).map(({ trigger, note }) => ({ trigger, note }));
    const news = unknown.map(({ trigger, note }) => `${trigger} ${note?.replace(/\d+/g, '')}`).join();
    if (news !== lastLogged && unknown.length > 0)
      log.warn({ triggers: unknown.slice(0, 10) }, 'trigger values unknown');
    lastLogged = news;
  };

  return async (pools) => {
    const triggers = pools.flatMap((pool) => pool.triggers.map((trigger) => ({ pool: pool.name, trigger })));
    if (triggers.length === 0) return { readings: [], save: async () => undefined };
    const signal = AbortSignal.timeout(queriesTimeoutMs);
    const before = answers;
    answers = new Map();
    const queries = [...new Set(triggers.map(({ trigger }) => trigger.metricQuery))];
    const [known] = await Promise.all([
      readTriggerTimes(store),
      forEachConcurrently(queries, atOnce, async (query) => {
        const recent = before.get(query);
        if (recent && recent.until > clock.monotonic()) answers.set(query, recent);
        else {
          const [found, forMs] = await runQuery(query, signal);
          answers.set(query, { until: clock.monotonic() + forMs, found });
        }
      }),
    ]);
    const now = clock.now();
    const times: TriggerTime[] = [];
    const readings = triggers.map(({ pool, trigger }): TriggerReading => {
      const { value, note } = answers.get(trigger.metricQuery)?.found ?? {};
      const own = known.times.filter((one) => one.pool === pool && one.trigger === trigger.name);
      const reading = { pool, trigger: trigger.name, ...(note !== undefined && { note }) };
      if (value === undefined) {
        times.push(...own);
        return { ...reading, unknown: true, since: now };
      }
      const time = updateTriggerTime(pool, trigger, value, own, now);
      times.push(time);
      return { ...reading, value, since: time.since };
    });
    logUnknown(readings);
    return { readings, save: (lease) => writeTriggerTimes(store, known, times, lease) };
  };
}
