import { type PressureBand, pressureBands } from '../shared/core/decide/signals/pressure-bands.ts';

/** Holds once every sample of so long a time is above. */
export interface Rule {
  readonly above: number;
  readonly forMs: number;
}

/** What each band above calm begins with: any one of its rules. */
export type BandRules = Readonly<Partial<Record<Exclude<PressureBand, 'calm'>, readonly Rule[]>>>;

export interface Clearing {
  /** A band ends below this share of where it begins … */
  readonly below: number;
  /** … for so long. */
  readonly forMs: number;
}

export interface Change {
  readonly from: PressureBand;
  readonly to: PressureBand;
  /** The rule that brought it into the higher of the two bands. */
  readonly rule: Rule;
}

export interface Tracker {
  readonly band: PressureBand;
  readonly rule: Rule | undefined;
  /** Above some rule, but not for long enough yet. */
  readonly suspicious: boolean;
  /** Adds a share measured between two times, in order; returns a change of the band. */
  take(share: number, from: number, to: number): Change | undefined;
}

/** Follows one category through its bands, with dwell on the way up and hysteresis on the way down. */
export function createTracker(rules: BandRules, clearing: Clearing): Tracker {
  const steps = pressureBands.map((band) => ({
    band,
    rules: (band === 'calm' ? [] : (rules[band] ?? [])).map((rule) => ({
      rule,
      since: undefined as number | undefined,
    })),
  }));
  let at = 0;
  let entered: Rule | undefined;
  let below: number | undefined;
  let suspicious = false;

  function climb(share: number, from: number, to: number): Change | undefined {
    suspicious = false;
    let change: Change | undefined;
    for (const [index, { band, rules: own }] of steps.entries())
      for (const one of own) {
        one.since = share > one.rule.above ? (one.since ?? from) : undefined;
        if (one.since === undefined || index <= at) continue;
        if (to - one.since < one.rule.forMs) suspicious = true;
        else {
          change = { from: change?.from ?? steps[at]?.band ?? 'calm', to: band, rule: one.rule };
          at = index;
          entered = one.rule;
          below = undefined;
        }
      }
    return change;
  }

  function descend(share: number, from: number, to: number): Change | undefined {
    if (!entered || share >= entered.above * clearing.below) {
      below = undefined;
      return undefined;
    }
    below ??= from;
    if (to - below < clearing.forMs) return undefined;
    const before = steps[at]?.band ?? 'calm';
    const rule = entered;
    // Down to the highest band that the share is still high enough for.
    const left = at;
    at = steps.findLastIndex(
      ({ rules: own }, index) =>
        index < left && (index === 0 || own.some((one) => share >= one.rule.above * clearing.below)),
    );
    entered = steps[at]?.rules[0]?.rule;
    below = undefined;
    return { from: before, to: steps[at]?.band ?? 'calm', rule };
  }

  return {
    get band() {
      return steps[at]?.band ?? 'calm';
    },
    get rule() {
      return entered;
    },
    get suspicious() {
      return suspicious;
    },
    take: (share, from, to) => climb(share, from, to) ?? descend(share, from, to),
  };
}
