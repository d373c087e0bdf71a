import { forecastPool, learn } from '../../shared/core/forecast/forecast-pool.ts';
import { addNeed, type NeedHistory, needStepMs } from '../../shared/core/forecast/need-history.ts';
import { needsOf } from '../../shared/core/forecast/needs.ts';
import { defaultPool, defaultSettings } from '../../shared/core/settings.ts';
import { Gi, machine, minute, node, pod, serving } from './support/builders.ts';

const day = 144;

describe('the history of a pool', () => {
  test('keeps the most of each step, and fills steps that were missed', () => {
    let history = addNeed(undefined, 3 * minute, 2);
    history = addNeed(history, 5 * minute, 4);
    history = addNeed(history, 9 * minute, 1);
    history = addNeed(history, 31 * minute, 7);
    expect(history).toEqual({ start: 0, needs: [4, 4, 4, 7] });
  });

  test('what adds nothing gives the same history back, and a clock that went back changes nothing', () => {
    const history = addNeed(addNeed(undefined, 0, 2), needStepMs, 5);
    expect(addNeed(history, needStepMs + 1, 5)).toBe(history);
    expect(addNeed(history, 0, 9)).toBe(history);
  });

  test('is bounded, and begins anew after more than a day that nobody watched', () => {
    let history: NeedHistory | undefined;
    for (let step = 0; step < 40 * day; step += 1) history = addNeed(history, step * needStepMs, step % 7);
    expect(history?.needs).toHaveLength(35 * day);
    expect(history?.start).toBe(5 * day * needStepMs);
    expect(addNeed(history, 42 * day * needStepMs, 3).needs).toEqual([3]);
  });
});

describe('what a pool needs', () => {
  const snapshot = {
    machines: [serving('a'), serving('b'), machine('c')],
    pools: [{ ...defaultPool, name: 'workers' }],
    settings: defaultSettings,
    cluster: {
      nodes: [node('a'), node('b')],
      // Spread over two machines, though one would do.
      pods: [
        pod('p', { node: 'a' }),
        pod('q', { node: 'b' }),
        pod('waits', { requests: { cpu: 4_000, memory: Gi } }),
      ],
    },
  };

  test('is counted by requests, not by machines that have pods', () => {
    expect(needsOf(snapshot, []).get('workers')).toBe(1);
  });

  test('pods that wait count where they are to go', () => {
    expect(needsOf(snapshot, [{ pods: ['default/waits'], on: 'c' }]).get('workers')).toBe(2);
  });
});

describe('the forecast of a pool', () => {
  const prewarm = { confidence: 0.95, horizonMs: 60 * minute };
  const pool = { ...defaultPool, name: 'workers', prewarm };
  /** Two by night, ten from 8 to 18 o'clock. */
  const office = (steps: number): NeedHistory => ({
    start: 0,
    needs: Array.from({ length: steps }, (_, step) => (step % day >= 48 && step % day < 108 ? 10 : 2)),
  });
  const rack = { machines: 12, bootMs: 5 * minute, unneededForMs: 10 * minute };

  test('is silent until there is a week of history', () => {
    expect(learn(office(7 * day - 1), prewarm, rack.bootMs)).toBeUndefined();
    expect(learn(office(7 * day), prewarm, rack.bootMs)).toBeDefined();
  });

  test('powers on a boot before the morning, not sooner, and within what there is', () => {
    const history = office(14 * day + 48);
    const learned = learn(history, prewarm, rack.bootMs);
    if (!learned) throw new Error('nothing was learned');
    const ends = history.needs.length * needStepMs;
    expect(forecastPool(pool, learned, rack, ends - 6 * minute).atLeast).toBe(0);
    const due = forecastPool(pool, learned, rack, ends - 5 * minute);
    expect(due.atLeast).toBeGreaterThan(2);
    expect(due.samples).toBe(14 * day + 48);
    expect(forecastPool(pool, learned, { ...rack, machines: 3 }, ends).atLeast).toBeLessThanOrEqual(3);
  });

  test('keeps what the ordinary rules alone would have on', () => {
    // The evening began just now: ten were needed until a moment ago.
    const history = office(14 * day + 109);
    const learned = learn(history, prewarm, rack.bootMs);
    if (!learned) throw new Error('nothing was learned');
    const { keep, needed } = forecastPool(pool, learned, { ...rack, unneededForMs: 30 * minute }, 0);
    expect({ keep, needed }).toEqual({ keep: 10, needed: 2 });
  });
});
