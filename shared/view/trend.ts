import { waitingPods } from '../core/decide/snapshot.ts';
import { type Sample, sampleOf, samplesOf } from '../core/energy/trend.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { HttpError } from '../server/http-response.ts';
import type { HistoryEntry, MachineRecord } from '../state/machine-record.ts';
import { readTrend } from '../state/trend.ts';
import type { TrendView } from './shapes.ts';
import type { Surroundings } from './surroundings.ts';
import type { View } from './view.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const ranges = {
  '15m': 15 * minuteMs,
  '1h': hourMs,
  '6h': 6 * hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
} as const;
type Range = keyof typeof ranges;

const isRange = (text: string): text is Range => Object.hasOwn(ranges, text);

/** In memory: 15 minutes at most, finer than what the store keeps. */
const liveEveryMs = 2_000;
const mostLive = 450;
/** A boot that took longer was no boot. */
const longestBootMs = 2 * hourMs;
const mostBoots = 1_000;

export interface TrendReader {
  /** Takes a sample of now, unless one was taken just before. */
  note(): void;
  look(range: string): Promise<TrendView>;
}

export function createTrend(
  store: Store,
  view: View,
  surroundings: Pick<Surroundings, 'last' | 'use'>,
  clock: Pick<Clock, 'now'>,
): TrendReader {
  let live: readonly Sample[] = [];
  const note = (): void => {
    const now = clock.now();
    const since = live.at(-1)?.at ?? now;
    if (live.length > 0 && now - since < liveEveryMs) return;
    const cluster = surroundings.last();
    const seen = cluster
      ? { use: surroundings.use(), waiting: waitingPods(cluster).length }
      : { use: undefined, waiting: undefined };
    live = [...live, sampleOf({ machines: view.machines(), ...seen, since }, now)].slice(-mostLive);
  };
  return {
    note,
    async look(range) {
      if (!isRange(range))
        throw new HttpError(400, `range: ${range} is not one of ${Object.keys(ranges).join(', ')}`);
      note();
      const now = clock.now();
      const from = now - ranges[range];
      const samples = samplesOf(await readTrend(store), live, from, now);
      const names = [...new Set(samples.flatMap(({ values }) => Object.keys(values)))];
      return {
        from,
        to: now,
        at: samples.map(({ at }) => at),
        series: Object.fromEntries(
          names.map((name) => [name, samples.map(({ values }) => values[name] ?? null)]),
        ),
        boots: bootsOf(view.machines(), from),
      };
    },
  };
}

/** Every boot that the machines' histories still know, the latest last. */
function bootsOf(machines: readonly MachineRecord[], from: number): TrendView['boots'] {
  return machines
    .flatMap(({ spec, history }) => boots(history).map((boot) => ({ machine: spec.name, ...boot })))
    .filter(({ at }) => at > from)
    .sort((a, b) => a.at - b.at)
    .slice(-mostBoots);
}

function boots(history: readonly HistoryEntry[]): { at: number; ms: number }[] {
  let begun: number | undefined;
  return history.flatMap(({ at, to }) => {
    if (to === 'powering-on') begun = at;
    const ms = to === 'ready' && begun !== undefined ? at - begun : undefined;
    if (to !== 'powering-on' && to !== 'joining') begun = undefined;
    return ms === undefined || ms > longestBootMs ? [] : [{ at, ms }];
  });
}
