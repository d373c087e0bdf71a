import { type PressureBand, pressureBands } from '../shared/core/decide/signals/pressure-bands.ts';
import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import type { Meter } from './meter.ts';
import type { Pods } from './pods.ts';
import type { Signal } from './signal.ts';

/** Reads one signal; called at its own pace. */
export interface Source {
  readonly signal: Signal;
  readonly everyMs: number;
  /** The share since the last read, the given milliseconds ago; undefined if unknown. */
  read(elapsedMs: number): { readonly share: number; readonly full?: number | undefined } | undefined;
  /** What the whole node used or waited, in the units that pods are counted in. */
  readonly whole?: Meter;
  close(): void;
}

export interface SensorOptions {
  readonly node: string;
  readonly sources: readonly Source[];
  readonly pods: Pods;
  readonly deliver: (report: PressureReport) => void;
  /** The first sequence number: the time of the start, so that numbers grow over restarts. */
  readonly firstSequence: number;
  /** Repeated this often while it lasts: reports that are not repeated expire at the receiver. */
  readonly repeatMs?: number;
}

export interface Sensor {
  /** Reads what is due, ten times a second. `now` only ever goes forward. */
  tick(now: number): void;
  bandOf(category: PressureCategory): PressureBand;
  close(): void;
}

/** While all is calm only to know where everybody stands: what begins to look pressed is counted from then on. */
const podsEveryMs = { calm: 60_000, pressed: 5_000 };
/** A pod that is gone should not be held on to for long. */
const lookEveryMs = 10_000;
/** The window of a report about a band that continues or ends. */
const longWindowMs = 2_000;

/** Where a band begins, as a level: what people set thresholds against. */
const bandLevel = 0.7;

export function createSensor(options: SensorOptions): Sensor {
  const { node, sources, pods, deliver, repeatMs = 10_000 } = options;
  const lastRead = new Map<Source, number>();
  const lastReported = new Map<PressureCategory, { band: PressureBand; at: number }>();
  let sequence = options.firstSequence;
  let podsAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const strongest = (category: PressureCategory): Source | undefined => {
    let best: Source | undefined;
    for (const source of sources)
      if (source.signal.category === category && (!best || rankOf(source) > rankOf(best))) best = source;
    return best;
  };
  const bandOf = (category: PressureCategory): PressureBand =>
    strongest(category)?.signal.tracker.band ?? 'calm';

  /** Each once. */
  const pressed = (): PressureCategory[] => [
    ...new Set(sources.flatMap(({ signal }) => (signal.tracker.band === 'calm' ? [] : [signal.category]))),
  ];

  function read(source: Source, now: number): void {
    const before = lastRead.get(source);
    if (before !== undefined && now - before < source.everyMs - 5) return;
    lastRead.set(source, now);
    const { signal } = source;
    const measured = source.read(now - (before ?? now));
    if (!measured || before === undefined) return;
    const wasSuspicious = signal.tracker.suspicious;
    const change = signal.take(clamp(measured.share), clamp(measured.full ?? 0), before, now);
    if (signal.tracker.suspicious && !wasSuspicious) {
      pods.suspect(signal.category, now);
      source.whole?.mark();
    }
    const band = bandOf(signal.category);
    const last = lastReported.get(signal.category);
    const known = last?.band ?? 'calm';
    const goesOn = band !== 'calm' && last !== undefined && now - last.at >= repeatMs;
    if (band === known && !goesOn) return;
    lastReported.set(signal.category, { band, at: now });
    const speaker = band === 'calm' ? source : (strongest(signal.category) ?? source);
    const rule = change?.rule ?? speaker.signal.tracker.rule;
    report(
      speaker,
      known,
      band,
      rule?.above ?? 1,
      band === known ? longWindowMs : (rule?.forMs ?? longWindowMs),
      now,
    );
  }

  function report(
    { signal, whole }: Source,
    from: PressureBand,
    to: PressureBand,
    above: number,
    windowMs: number,
    now: number,
  ): void {
    const falling = rank(to) < rank(from);
    const window = falling ? longWindowMs : windowMs;
    const { share, full, before } = signal.history.over(window);
    const level = (bandLevel * share) / above;
    sequence += 1;
    deliver({
      node,
      category: signal.category,
      from,
      to,
      sign: falling ? 'falling' : 'rising',
      level: rounded(to === 'calm' ? Math.min(level, bandLevel - 0.01) : Math.max(level, bandLevel)),
      share: rounded(share),
      ...(signal.name === 'psi' && { full: rounded(full) }),
      baseline: rounded(signal.baseline),
      ratePerSecond: Math.round(((share - before) / window) * 1e6) / 1e3,
      windowMs: window,
      signal: signal.name,
      ...pods.attribute(signal.category, now, whole),
      sequence,
    });
  }

  return {
    tick(now) {
      const isPressed = sources.some(({ signal }) => signal.tracker.band !== 'calm');
      if (now - podsAt >= podsEveryMs[isPressed ? 'pressed' : 'calm'] - 5) {
        podsAt = now;
        lookedAt = now;
        pods.sample(now, isPressed ? pressed() : undefined);
      } else if (now - lookedAt >= lookEveryMs - 5) {
        lookedAt = now;
        pods.look(now);
      }
      for (const source of sources) read(source, now);
    },
    bandOf,
    close() {
      for (const source of sources) source.close();
      pods.close();
    },
  };
}

const rank = (band: PressureBand): number => pressureBands.indexOf(band);
const rankOf = ({ signal }: Source): number => rank(signal.tracker.band);
const clamp = (share: number): number => Math.min(1, Math.max(0, share));
const rounded = (share: number): number => Math.round(clamp(share) * 1000) / 1000;
