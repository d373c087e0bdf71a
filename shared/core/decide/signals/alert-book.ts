import { byText } from '../../text.ts';
import type { AlertReading } from '../snapshot.ts';
import { type Alert, alertName } from './alerts.ts';

/** The stored state of alerts, across webhooks, processes and restarts. */
export interface AlertBook {
  /** By fingerprint, start and status: when it was last heard. */
  readonly seen: Readonly<Record<string, number>>;
  /** By fingerprint: alerts that steer a pool, or did. */
  readonly steers: Readonly<Record<string, Steer>>;
}

interface Steer {
  readonly pool: string;
  readonly alert: string;
  readonly startsAt: string;
  /** By our own clock, as all times here; over episodes that follow each other closely. */
  readonly since: number;
  readonly heardAt: number;
  readonly endedAt?: number | undefined;
}

export const emptyBook: AlertBook = { seen: {}, steers: {} };

const limits = { seen: 1_000, steers: 200 } as const;
const rememberedMs = 12 * 3_600_000;
/** A firing alert is repeated: one that is not repeated is over, even if its sender died. */
export const silentAfterMs = 15 * 60_000;
/** Repeats within this are not written down: they say nothing new. */
const refreshMs = 60_000;

export const alertKey = ({ fingerprint, startsAt, status }: Alert): string =>
  `${fingerprint}|${startsAt}|${status}`;

export interface Noted {
  /** The same object when nothing is to be written. */
  readonly book: AlertBook;
  /** Alerts that fire and had not been heard before: a reason to look now. */
  readonly fresh: number;
}

/** Takes alerts into the book. Twice the same changes nothing, in whatever order they come. */
export function noteAlerts(
  book: AlertBook,
  alerts: readonly Alert[],
  poolOf: (alert: Alert) => string | undefined,
  now: number,
): Noted {
  const seen = { ...book.seen };
  const steers = { ...book.steers };
  let fresh = 0;
  let changed = false;
  for (const alert of alerts) {
    const key = alertKey(alert);
    const before = seen[key];
    if (before !== undefined && now - before < refreshMs) continue;
    if (before === undefined && alert.status === 'firing') fresh += 1;
    seen[key] = now;
    changed = true;
    const over = seen[alertKey({ ...alert, status: 'resolved' })] !== undefined;
    const steer = steered(alert, over, steers[alert.fingerprint], poolOf, now);
    if (steer) steers[alert.fingerprint] = steer;
  }
  if (!changed) return { book, fresh };
  return {
    book: {
      seen: newest(seen, (at) => at, limits.seen, now),
      steers: newest(steers, ({ heardAt }) => heardAt, limits.steers, now),
    },
    fresh,
  };
}

function steered(
  alert: Alert,
  over: boolean,
  known: Steer | undefined,
  poolOf: (alert: Alert) => string | undefined,
  now: number,
): Steer | undefined {
  const { startsAt } = alert;
  const same = known?.startsAt === startsAt ? known : undefined;
  if (over) return same && { ...same, heardAt: now, endedAt: same.endedAt ?? now };
  // A late copy of an older episode says nothing of this one.
  if (known && startsAt < known.startsAt) return undefined;
  const pool = poolOf(alert);
  if (pool === undefined) return undefined;
  const name = alertName(alert).slice(0, 100);
  // Back so soon it is the same trouble, or nobody measured meanwhile: what was done for it still counts.
  const since = known && now - known.heardAt < silentAfterMs ? known.since : now;
  return { pool, alert: name, startsAt, since, heardAt: now };
}

/** Old and excess entries are dropped, the oldest first. */
function newest<Value>(
  of: Readonly<Record<string, Value>>,
  at: (value: Value) => number,
  most: number,
  now: number,
): Record<string, Value> {
  const entries = Object.entries(of).filter(([, value]) => now - at(value) < rememberedMs);
  if (entries.length > most)
    entries.sort(([a, one], [b, other]) => at(other) - at(one) || byText(a, b)).length = most;
  return Object.fromEntries(entries);
}

/** What alerts say of pools now: those that fire, and those that did not long ago. */
export const alertReadings = ({ steers }: AlertBook, now: number): AlertReading[] =>
  Object.values(steers).map(({ pool, alert, since, heardAt, endedAt }) => {
    const silent = now - heardAt >= silentAfterMs ? heardAt + silentAfterMs : undefined;
    return { pool, alert, since, endedAt: endedAt ?? silent };
  });
