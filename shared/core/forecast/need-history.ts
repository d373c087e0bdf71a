/** How many machines a pool needed at each step of the past. Bounded, however long it is kept. */
export interface NeedHistory {
  /** When the first step began. */
  readonly start: number;
  /** The most that was needed within each step. */
  readonly needs: readonly number[];
}

export const needStepMs = 600_000;
/** Five weeks: what is older says little about tomorrow. */
const mostSteps = (35 * 86_400_000) / needStepMs;
/** After a longer pause than this the past is not continued: nothing is known of what lies between. */
const longestGapSteps = 86_400_000 / needStepMs;

const stepOf = (at: number): number => Math.floor(at / needStepMs);

/** The history with one more sample, the same one where that adds nothing; steps that were missed repeat the one before. */
export function addNeed(before: NeedHistory | undefined, at: number, need: number): NeedHistory {
  const fresh = { start: stepOf(at) * needStepMs, needs: [need] };
  if (!before) return fresh;
  const index = stepOf(at) - stepOf(before.start);
  const last = before.needs.length - 1;
  // A clock that went back changes nothing that is known.
  if (index < last) return before;
  if (index === last && need <= (before.needs[last] ?? 0)) return before;
  if (index - last > longestGapSteps) return fresh;
  const missed = new Array<number>(Math.max(0, index - last - 1)).fill(before.needs[last] ?? 0);
  const all = [...before.needs.slice(0, index), ...missed, need];
  const dropped = Math.max(0, all.length - mostSteps);
  return { start: before.start + dropped * needStepMs, needs: all.slice(dropped) };
}
