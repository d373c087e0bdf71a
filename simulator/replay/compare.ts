import {
  type CountsPolicy,
  type Rack,
  runCounts,
  type Timeline,
  timelineOf,
} from '../../shared/core/forecast/counts.ts';
import type { Result } from '../../shared/core/forecast/result.ts';
import { confidences, expect, keeps, type Prewarm } from './expectations.ts';
import type { History } from './history.ts';
import { runOracle } from './oracle.ts';

export interface ReplayOptions {
  readonly machines: number;
  readonly bootMs: number;
  readonly unneededForMs: number;
  /** Results are counted from this step on; what comes before is for learning. */
  readonly from: number;
  readonly confidence: number;
  readonly horizonMs: number;
  readonly watts?: { readonly idle: number; readonly max: number } | undefined;
  readonly trace?: boolean | undefined;
}

export interface Row {
  readonly policy: string;
  readonly settings: string;
  readonly result: Result;
  /** What idling and booting took: in watt hours, or in machine hours at full power where no watts are known. */
  readonly overhead: number;
  /** How much of the way from the row it is compared with to the oracle it comes, in overhead. */
  readonly gained?:
    | { readonly share: number; readonly than: string; readonly noMoreWaiting: boolean }
    | undefined;
}

export interface Comparison {
  readonly rows: readonly Row[];
  readonly suggested: Prewarm & { readonly unneededForMs: number };
  /** Per step, of the method in use and the others: see Expectation. */
  readonly costs: Readonly<Record<string, number>>;
  readonly method: string;
}

/** Of full power, where nothing else is known. */
const usualIdle = 0.5;

/** Idle and boot energy: pods take what they take, sooner or later, whatever the policy is. */
function overheadOf(
  { onMs, busyMs, wakeUps }: Result,
  bootMs: number,
  watts = { idle: usualIdle, max: 1 },
): number {
  const booting = wakeUps * bootMs;
  const idling = Math.max(0, onMs - busyMs - booting);
  return (idling * watts.idle + (booting * (watts.idle + watts.max)) / 2) / 3_600_000;
}

const noMore = (a: Result, b: Result): boolean => a.shortSteps <= b.shortSteps && a.missingMs <= b.missingMs;

/** What is chosen on the past must hold in the future: no more waiting in any of so many parts of the past. */
const parts = 4;
/** What else could be configured as unneededFor. */
const otherSettings = [0, 1_800_000, 3_600_000];
/** Spare machines that are tried, beside none. */
const mostSpare = 64;

/** Everything on, as configured, with the forecast, and with all the future known: the same history in each. */
export function compare(history: History, options: ReplayOptions): Comparison {
  const { machines, bootMs, unneededForMs, from, confidence, horizonMs, watts, trace = false } = options;
  const { needs, stepMs } = history;
  const rack: Rack = { machines, bootMs, stepMs };
  const expectations = expect(history, { bootMs, horizonMs, also: [confidence] });
  // The first of the parts is for learning alone.
  const cuts = Array.from({ length: parts + 2 }, (_, cut) => Math.floor((from * cut) / (parts + 1))).slice(1);
  const past = (policy: CountsPolicy): readonly Result[] => runCounts(needs, rack, policy, { cuts });
  const run = (policy: CountsPolicy): Result => {
    const [result] = runCounts(needs, rack, policy, { cuts: [from, needs.length], trace });
    if (!result) throw new Error('there is nothing to count');
    return result;
  };
  const overhead = (result: Result): number => overheadOf(result, bootMs, watts);
  const configured: CountsPolicy = { unneededForMs };
  const floors = new Map<number, Timeline>();
  const floorOf = (idleMs: number): Timeline => {
    const floor = floors.get(idleMs) ?? timelineOf(needs, rack, idleMs);
    floors.set(idleMs, floor);
    return floor;
  };
  const withForecast = (prewarm: Prewarm, idleMs: number): CountsPolicy => ({
    unneededForMs: idleMs,
    target: expectations.target(prewarm),
    floor: floorOf(idleMs),
  });
  const suggested = suggest(past, withForecast, unneededForMs, overhead);
  const sure = withForecast({ confidence, keep: 0.5 }, unneededForMs);
  const spare = spareFor(past, past(sure), unneededForMs);

  const everything = allOn(needs, rack, from, trace);
  const reactive = run(configured);
  const padded = run(withSpare(spare, unneededForMs));
  const oracle = runOracle(needs, rack, { from, trace });
  const tuned = run(withForecast(suggested, suggested.unneededForMs));
  const careful = run(sure);
  const gained = (result: Result, than: Result, name: string): Row['gained'] => {
    const distance = overhead(than) - overhead(oracle);
    return {
      share: distance > 0 ? (overhead(than) - overhead(result)) / distance : 0,
      than: name,
      noMoreWaiting: noMore(result, than),
    };
  };
  const row = (policy: string, settings: string, result: Result, gain?: Row['gained']): Row => ({
    policy,
    settings,
    result,
    overhead: overhead(result),
    gained: gain,
  });
  const minutes = (ms: number): string => `${Math.round(ms / 60_000)}m`;
  const spares = `reactive + ${spare} spare`;
  const { costs, method } = expectations.last(confidence);
  return {
    rows: [
      row('everything on', '', everything),
      row('reactive', `unneededFor ${minutes(unneededForMs)}`, reactive),
      ...otherSettings
        .filter((ms) => ms !== unneededForMs)
        .map((ms) => row('reactive', `unneededFor ${minutes(ms)}`, run({ unneededForMs: ms }))),
      row(
        'forecast',
        describe(suggested, suggested.unneededForMs),
        tuned,
        gained(tuned, reactive, 'reactive'),
      ),
      row(spares, `unneededFor ${minutes(unneededForMs)}`, padded),
      row(
        `forecast ${Math.round(confidence * 1000) / 10} %`,
        describe({ confidence, keep: 0.5 }, unneededForMs),
        careful,
        gained(careful, padded, spares),
      ),
      row('oracle', 'knows the future', oracle),
    ],
    suggested,
    costs,
    method,
  };
}

const describe = ({ confidence, keep }: Prewarm, unneededForMs: number): string =>
  `confidence ${confidence}, keep ${keep}, unneededFor ${Math.round(unneededForMs / 60_000)}m`;

/** The settings that took least on the past at no more waiting than as configured; as configured where none did. */
function suggest(
  past: (policy: CountsPolicy) => readonly Result[],
  withForecast: (prewarm: Prewarm, unneededForMs: number) => CountsPolicy,
  unneededForMs: number,
  overhead: (result: Result) => number,
): Comparison['suggested'] {
  const reactive = past({ unneededForMs });
  let best: Comparison['suggested'] = { confidence: confidences[0] ?? 0, keep: 1, unneededForMs };
  const inAll = (results: readonly Result[]): number =>
    results.reduce((sum, result) => sum + overhead(result), 0);
  let least = inAll(reactive);
  for (const idleMs of [...new Set([0, Math.round(unneededForMs / 2), unneededForMs])])
    for (const keep of keeps)
      for (const confidence of confidences) {
        const result = past(withForecast({ confidence, keep }, idleMs));
        if (inAll(result) >= least || !result.every((part, index) => noMore(part, reactive[index] ?? part)))
          continue;
        least = inAll(result);
        best = { confidence, keep, unneededForMs: idleMs };
      }
  return best;
}

const withSpare = (spare: number, unneededForMs: number): CountsPolicy => ({
  unneededForMs,
  target: (_step, need) => ({ atLeast: need + spare, keep: need + spare }),
});

/** How many machines may be kept free at all times before that means less waiting. */
function spareFor(
  past: (policy: CountsPolicy) => readonly Result[],
  as: readonly Result[],
  unneededForMs: number,
): number {
  const waits = (results: readonly Result[]): number =>
    results.reduce((sum, { shortSteps }) => sum + shortSteps, 0);
  if (waits(as) === 0) return 0;
  for (let spare = 1; spare < mostSpare; spare += 1)
    if (waits(past(withSpare(spare, unneededForMs))) < waits(as)) return spare - 1;
  return mostSpare;
}

function allOn(needs: readonly number[], { machines, stepMs }: Rack, from: number, trace: boolean): Result {
  const counted = needs.slice(from);
  return {
    forMs: counted.length * stepMs,
    steps: counted.length,
    onMs: machines * counted.length * stepMs,
    busyMs: counted.reduce((sum, need) => sum + Math.min(need, machines) * stepMs, 0),
    missingMs: 0,
    wakeUps: 0,
    wakeUpSteps: 0,
    shortSteps: counted.filter((need) => need > machines).length,
    ...(trace && { on: counted.map(() => machines) }),
  };
}
