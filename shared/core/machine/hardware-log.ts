import type { Measured } from './health.ts';
import type { KnownLog } from './machine.ts';

/** An entry of the log that a BMC keeps of its machine's hardware (the SEL), if it matters to us. */
export interface LogEntry {
  /** `over`: what was critical before is so no more. */
  readonly kind: 'critical' | 'over';
  /** What it is about: an `over` ends the critical ones about the same. */
  readonly about: string;
  readonly text: string;
  /** By the BMC's own clock; undefined where that does not know the time. */
  readonly at?: number | undefined;
}

export interface LogReading {
  /** Where the next reading goes on from; undefined: the log is empty. */
  readonly last?: string | undefined;
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** The log does not go on from where it was last read: it was cleared, or never read. */
  readonly restarted: boolean;
}

/** What was in the log for longer than this when it was first read is history, not news. */
const oldMs = 30 * 24 * 3_600_000;
const mostKept = 8;

/** What is known once a log has been read. What a person has dealt with does not come up again. */
export function afterReading(
  known: KnownLog | undefined,
  { last, entries, restarted }: LogReading,
  acknowledgedAt: number | undefined,
  now: number,
): KnownLog {
  let critical = restarted ? [] : [...stillCritical(known, acknowledgedAt)];
  for (const { kind, about, text, at } of entries) {
    critical = critical.filter((one) => one.about !== about);
    const isNews = at === undefined || (at > now - oldMs && !(restarted && at <= (acknowledgedAt ?? 0)));
    if (kind === 'critical' && isNews) critical.push({ about, text, seenAt: now });
  }
  return { last, critical: critical.slice(-mostKept) };
}

export const stillCritical = (known: KnownLog | undefined, acknowledgedAt = 0): KnownLog['critical'] =>
  (known?.critical ?? []).filter(({ seenAt }) => seenAt > acknowledgedAt);

/** Its health with what its log says. Undefined: nobody measured anything, and its log has nothing to say either. */
export function withLog(
  measured: Measured | undefined,
  known: KnownLog | undefined,
  acknowledgedAt: number | undefined,
): Measured | undefined {
  const critical = stillCritical(known, acknowledgedAt);
  if (critical.length === 0) return measured;
  const problems = critical.map(({ text }) => `SEL critical: ${text}`);
  return { ...measured, health: 'critical', problems: [...(measured?.problems ?? []), ...problems] };
}
