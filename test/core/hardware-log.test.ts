import { afterReading, type LogEntry, withLog } from '../../shared/core/machine/hardware-log.ts';
import type { KnownLog } from '../../shared/core/machine/machine.ts';

const now = 1_800_000_000_000;
const day = 24 * 3_600_000;
const bad = (about: string, at?: number): LogEntry => ({
  kind: 'critical',
  about,
  text: `${about} failed`,
  at,
});
const over = (about: string): LogEntry => ({ kind: 'over', about, text: '' });
const known = (...about: string[]): KnownLog => ({
  last: '7',
  critical: about.map((one) => ({ about: one, text: `${one} failed`, seenAt: now - day })),
});
const texts = ({ critical }: KnownLog) => critical.map(({ text }) => text);

test('what is critical is kept until it is over', () => {
  const first = afterReading(
    undefined,
    { last: '1', entries: [bad('psu')], restarted: true },
    undefined,
    now,
  );
  expect(first).toEqual({ last: '1', critical: [{ about: 'psu', text: 'psu failed', seenAt: now }] });
  const second = afterReading(
    first,
    { last: '2', entries: [bad('fan')], restarted: false },
    undefined,
    now + 1,
  );
  expect(texts(second)).toEqual(['psu failed', 'fan failed']);
  const third = afterReading(
    second,
    { last: '3', entries: [over('psu')], restarted: false },
    undefined,
    now + 2,
  );
  expect(texts(third)).toEqual(['fan failed']);
});

test('a log that was cleared has nothing left of before', () => {
  expect(afterReading(known('psu'), { entries: [], restarted: true }, undefined, now)).toEqual({
    critical: [],
  });
});

test('the same again is one', () => {
  const entries = [bad('psu'), bad('psu')];
  expect(texts(afterReading(known('psu'), { last: '9', entries, restarted: false }, undefined, now))).toEqual(
    ['psu failed'],
  );
});

test.each([
  ['from before our time', undefined, now - 31 * day, []],
  ['from a while ago', undefined, now - 29 * day, ['psu failed']],
  ['of a BMC that does not know the time', undefined, undefined, ['psu failed']],
  ['that somebody dealt with', now - day, now - 2 * day, []],
  ['from after somebody dealt with the last one', now - day, now - 1000, ['psu failed']],
])('an entry %s', (_name, acknowledgedAt, at, expected) => {
  const reading = { last: '1', entries: [bad('psu', at)], restarted: true };
  expect(texts(afterReading(undefined, reading, acknowledgedAt, now))).toEqual(expected);
});

test('health is as bad as the log says, until somebody has dealt with it', () => {
  const well = { watts: 90, health: 'ok', problems: [] } as const;
  expect(withLog(well, known(), undefined)).toBe(well);
  expect(withLog(well, known('psu'), undefined)).toEqual({
    watts: 90,
    health: 'critical',
    problems: ['SEL critical: psu failed'],
  });
  expect(withLog(undefined, known('psu'), undefined)).toMatchObject({ health: 'critical' });
  expect(withLog(well, known('psu'), now)).toBe(well);
  expect(withLog(undefined, known('psu'), now)).toBeUndefined();
});

test('only so much is remembered', () => {
  const entries = Array.from({ length: 50 }, (_, index) => bad(`part ${index}`));
  const { critical } = afterReading(undefined, { last: '50', entries, restarted: true }, undefined, now);
  expect(critical).toHaveLength(8);
  expect(critical.at(-1)?.about).toBe('part 49');
});
