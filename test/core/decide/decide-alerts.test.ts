import type { AlertReading, Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { machine, minute, node, now, pool, serving, snapshot } from '../support/builders.ts';
import { intents, reasons, verdict } from '../support/decisions.ts';

const reading = (parts: Partial<AlertReading> = {}): AlertReading => ({
  pool: 'workers',
  alert: 'Busy',
  since: now - minute,
  ...parts,
});
const given = (alerts: readonly AlertReading[], more: Partial<Snapshot> = {}): Snapshot => ({
  ...snapshot({ machines: [machine('m1'), machine('m2')] }),
  alerts,
  ...more,
});

describe('an alert that fires for a pool', () => {
  test('wants one more machine of it', () => {
    expect(intents(given([reading()]))).toEqual(['power-on m1']);
    expect(reasons(given([reading()])).wants).toEqual([
      { code: 'alert-fires', alert: 'Busy', pool: 'workers' },
    ]);
  });

  test('several want one', () => {
    expect(intents(given([reading(), reading({ alert: 'Busier' })]))).toEqual(['power-on m1']);
  });

  test.each<[string, Partial<AlertReading>]>([
    ['over', { endedAt: now - 1 }],
    ['of another pool', { pool: 'gpu' }],
  ])('not one that is %s', (_what, parts) => {
    expect(intents(given([reading(parts)]))).toEqual([]);
  });

  test('one at a time: the next only once the last has had its time to help', () => {
    const joined = (ago: number, firesFor = 10 * minute): Snapshot =>
      given([reading({ since: now - firesFor })], {
        machines: [serving('m1', { status: { joinTime: now - ago } }), machine('m2')],
        cluster: { nodes: [node('m1')], pods: [] },
      });
    expect(intents(joined(4 * minute))).toEqual([]);
    expect(intents(joined(5 * minute))).toEqual(['power-on m2']);
    // It fires although that one is there.
    expect(intents(joined(4 * minute, minute))).toEqual(['power-on m2']);
    const coming = { machines: [machine('m1', { status: { state: 'joining' } }), machine('m2')] };
    expect(intents(given([reading()], coming))).toEqual([]);
  });
});

describe('fault 22: late `resolved` alert → never scales down by itself', () => {
  const idle = (...alerts: AlertReading[]): Snapshot => ({
    ...snapshot({
      machines: [serving('m1')],
      nodes: [node('m1'), node('other')],
      pools: [pool({ unneededForMs: 10 * minute })],
    }),
    alerts,
  });

  test('without an alert the machine would leave', () => {
    expect(intents(idle())).toEqual(['drain m1']);
  });

  test('nothing leaves while it fires', () => {
    expect(verdict(idle(reading()), 'm1')).toEqual({
      verdict: 'kept',
      code: 'alert-fires',
      alert: 'Busy',
      pool: 'workers',
    });
  });

  test('nor for as long afterwards as a machine must be unneeded', () => {
    expect(verdict(idle(reading({ endedAt: now - 9 * minute })), 'm1')).toEqual({
      verdict: 'kept',
      code: 'alert-fired',
      alert: 'Busy',
      pool: 'workers',
      withinMs: 10 * minute,
    });
    expect(intents(idle(reading({ endedAt: now - 10 * minute })))).toEqual(['drain m1']);
  });
});

test('a trigger that nobody can read keeps everything on, and the record says why', () => {
  const trigger = {
    name: 'queue',
    metricQuery: 'q',
    threshold: 10,
    durationMs: 0,
    scaleDirection: 'up' as const,
  };
  const idle: Snapshot = {
    ...snapshot({
      machines: [serving('m1')],
      nodes: [node('m1'), node('other')],
      pools: [pool({ triggers: [trigger] })],
    }),
    triggers: [{ pool: 'workers', trigger: 'queue', since: now, unknown: true, note: 'it did not answer' }],
  };
  expect(verdict(idle, 'm1')).toEqual({
    verdict: 'kept',
    code: 'trigger-unknown',
    pool: 'workers',
    trigger: 'queue',
    threshold: 10,
  });
  expect(reasons(idle).notes).toEqual([
    { code: 'trigger-note', pool: 'workers', trigger: 'queue', note: 'it did not answer' },
  ]);
});
