/** Keeps a few readings of a counter, to compute its increase in the last seconds. */
export interface Meter {
  /** Time goes on by so much; the counter is read when it is worth remembering. */
  pass(elapsedMs: number): void;
  /** It is worth remembering now: what comes next will be asked about. */
  mark(): void;
  /** The increase in the last milliseconds. */
  counted(ms: number): number;
}

const everyMs = 1_000;
const kept = 8;

export function createMeter(counter: () => number): Meter {
  const marks: { readonly at: number; readonly value: number }[] = [];
  let at = 0;
  const mark = (): void => {
    marks.push({ at, value: counter() });
    if (marks.length > kept) marks.shift();
  };
  return {
    pass(elapsedMs) {
      at += elapsedMs;
      if (at - (marks.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= everyMs) mark();
    },
    mark,
    counted(ms) {
      const known = marks.findLast((one) => at - one.at >= ms) ?? marks[0];
      if (!known || at === known.at) return 0;
      return ((counter() - known.value) * ms) / (at - known.at);
    },
  };
}
