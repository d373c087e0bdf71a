import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { type BandRules, type Change, type Clearing, createTracker, type Tracker } from './bands.ts';
import { createHistory, type History } from './history.ts';

/** A measure of the pressure of a category. */
export interface Signal {
  readonly category: PressureCategory;
  readonly name: PressureReport['signal'];
  readonly tracker: Tracker;
  readonly history: History;
  /** The usual share while it is calm. */
  baseline: number;
  /** The share since the last time, which was at `from`. */
  take(share: number, full: number, from: number, to: number): Change | undefined;
}

/** How slowly the baseline follows. */
const followMs = 60_000;

export function createSignal(
  category: PressureCategory,
  name: Signal['name'],
  rules: BandRules,
  clearing: Clearing,
): Signal {
  const tracker = createTracker(rules, clearing);
  const history = createHistory();
  const signal: Signal = {
    category,
    name,
    tracker,
    history,
    baseline: 0,
    take(share, full, from, to) {
      history.add({ from, to, share, full });
      const change = tracker.take(share, from, to);
      if (tracker.band === 'calm' && !tracker.suspicious)
        signal.baseline += (share - signal.baseline) * Math.min(1, (to - from) / followMs);
      return change;
    },
  };
  return signal;
}
