import type { Result } from './result.ts';

export interface Rack {
  readonly machines: number;
  readonly bootMs: number;
  readonly stepMs: number;
}

/** What a policy asks for at a step. */
export interface Target {
  /** So many are to be on when the next step begins. */
  readonly atLeast: number;
  /** So many that are on stay on. */
  readonly keep: number;
}

/** How many machines were on, from each of these times on. */
export interface Timeline {
  readonly times: readonly number[];
  readonly on: readonly number[];
}

export interface CountsPolicy {
  /** A machine that was not needed for so long is powered off. */
  readonly unneededForMs: number;
  /** Absent: nothing beyond what is needed now. */
  readonly target?: ((step: number, need: number) => Target) | undefined;
  /** Never fewer than these, which are what the rules alone would have on. */
  readonly floor?: Timeline | undefined;
}

export interface Counting {
  /** Steps at which counting begins anew; before the first and from the last on nothing is counted. */
  readonly cuts?: readonly number[];
  readonly trace?: boolean | undefined;
  /** Gets every change in the number of machines that are on. */
  readonly onChange?: ((at: number, on: number) => void) | undefined;
}

const never = Number.POSITIVE_INFINITY;
const zero = () => ({ onMs: 0, busyMs: 0, missingMs: 0, wakeUps: 0, wakeUpSteps: 0, shortSteps: 0 });

/**
 * The rules of scaling for equal machines and pods that fill one each, as counts: a machine per pod that waits, off
 * after it was idle for long enough, never below what the policy keeps. A run of 100,000 steps takes a fraction of a
 * second; a test holds it against the decisions themselves.
 */
export function runCounts(
  needs: readonly number[],
  { machines, bootMs, stepMs }: Rack,
  { unneededForMs, target, floor }: CountsPolicy,
  { cuts = [0, needs.length], trace = false, onChange }: Counting = {},
): readonly Result[] {
  let now = 0;
  let need = 0;
  let busy = 0;
  let keep = 0;
  /** Since when each idle machine has been: the longest first. */
  const idle: number[] = [];
  /** When each machine on its way will be Ready: the next first. */
  const coming: number[] = [];
  let totals = zero();
  let on: number[] = [];
  const results: Result[] = [];
  let cut = 0;
  let counting = false;
  let wokeIn = -1;
  let floorAt = -1;

  const serving = (): number => busy + idle.length;
  const kept = (): number => Math.max(keep, floor?.on[floorAt] ?? 0);
  const changed = (): void => onChange?.(now, serving() + coming.length);
  const advance = (to: number): void => {
    if (counting) {
      totals.onMs += (serving() + coming.length) * (to - now);
      totals.busyMs += busy * (to - now);
      totals.missingMs += Math.max(0, Math.min(need, machines) - serving()) * (to - now);
    }
    now = to;
    if (floor) while ((floor.times[floorAt + 1] ?? never) <= now) floorAt += 1;
  };
  const wake = (count: number, step: number): void => {
    const wanted = Math.min(count, machines - serving() - coming.length);
    if (wanted <= 0) return;
    for (let left = wanted; left > 0; left -= 1) coming.push(now + bootMs);
    changed();
    if (!counting) return;
    totals.wakeUps += wanted;
    if (wokeIn !== step) totals.wakeUpSteps += 1;
    wokeIn = step;
  };
  const join = (): void => {
    coming.shift();
    if (need > busy) busy += 1;
    else idle.push(now);
  };
  const leave = (): void => {
    const before = idle.length;
    while (idle.length > 0 && (idle[0] ?? 0) + unneededForMs <= now && serving() > kept()) idle.shift();
    if (idle.length < before) changed();
  };
  /** Everything that happens before a time, in its order; what is due just then comes after what is needed then. */
  const runTo = (to: number): void => {
    for (;;) {
      const joins = coming[0] ?? never;
      const due = idle.length > 0 && serving() > keep ? Math.max(now, (idle[0] ?? 0) + unneededForMs) : never;
      const leaves =
        due < never && serving() <= kept() ? Math.max(due, floor?.times[floorAt + 1] ?? never) : due;
      if (joins > to && leaves >= to) break;
      advance(Math.min(joins, leaves));
      if (joins <= leaves) join();
      else leave();
    }
    advance(to);
  };
  const close = (step: number): void => {
    const steps = step - (cuts[cut - 1] ?? 0);
    if (counting) results.push({ forMs: steps * stepMs, steps, ...totals, ...(trace && { on }) });
    totals = zero();
    on = [];
    cut += 1;
    counting = true;
  };

  const until = cuts.at(-1) ?? needs.length;
  for (let step = 0; step < until; step += 1) {
    runTo(step * stepMs);
    if (step === cuts[cut]) close(step);
    need = needs[step] ?? 0;
    for (; busy > need; busy -= 1) idle.push(now);
    for (; busy < need && idle.length > 0; busy += 1) idle.pop();
    if (counting && serving() < need) totals.shortSteps += 1;
    if (trace && counting) on.push(serving() + coming.length);
    wake(need - serving() - coming.length, step);
    const asked = target?.(step, need);
    keep = Math.min(machines, asked?.keep ?? 0);
    leave();
    if (asked) {
      runTo(Math.max(now, (step + 1) * stepMs - bootMs));
      wake(asked.atLeast - serving() - coming.length, step);
    }
  }
  runTo(until * stepMs);
  close(until);
  return results;
}

/** What the rules alone would have on: nothing but what is needed, and what was until just now. */
export function timelineOf(needs: readonly number[], rack: Rack, unneededForMs: number): Timeline {
  const times: number[] = [];
  const on: number[] = [];
  runCounts(
    needs,
    rack,
    { unneededForMs },
    {
      onChange(at, count) {
        times.push(at);
        on.push(count);
      },
    },
  );
  return { times, on };
}
