import fc from 'fast-check';
import { decide } from '../../shared/core/decide/decide.ts';
import { runCounts, timelineOf } from '../../shared/core/forecast/counts.ts';
import { defaultPool, defaultSettings } from '../../shared/core/settings.ts';
import { type DecisionsInput, runDecisions } from '../../simulator/replay/decisions.ts';
import { demandPods } from '../../simulator/replay/demand-pods.ts';
import { machine } from '../core/support/builders.ts';

const minute = 60_000;
const stepMs = 10 * minute;
const start = 1_800_000_000_000;
const size = { cpu: 4_000, memory: 2 ** 34 };

const inputOf = (
  needs: readonly number[],
  machines: number,
  bootMs: number,
  unneededForMs: number,
): DecisionsInput => ({
  machines: Array.from({ length: machines }, (_, index) => ({
    name: `m-${index}`,
    pool: 'workers',
    powerInterface: 'redfish',
    resources: size,
  })),
  pods: demandPods(needs, { start, stepMs, size }),
  pool: { ...defaultPool, name: 'workers', scaleDown: { ...defaultPool.scaleDown, maxConcurrent: 0 } },
  settings: { ...defaultSettings, unneededForMs },
  bootMs,
  offMs: 0,
  tickMs: 0,
  until: start + needs.length * stepMs,
});

describe('a replay through the decisions', () => {
  test('a pod waits for its machine to boot; the machine leaves after it was idle for long enough', () => {
    const result = runDecisions(inputOf([1, 1, 0, 0, 0], 3, 5 * minute, 10 * minute));
    expect(result).toMatchObject({
      onMs: 30 * minute,
      busyMs: 15 * minute,
      wakeUps: 1,
      waits: new Map([['need-1-0', 5 * minute]]),
      neverPlaced: 0,
      mostOn: 1,
    });
  });

  test('agrees with the counts on whatever is needed', () => {
    const step = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(
        // The first step needs a machine: a history begins with its first pod.
        fc.tuple(fc.integer({ min: 1, max: 6 }), fc.array(step, { minLength: 1, maxLength: 30 })),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 25 }),
        fc.integer({ min: 1, max: 35 }),
        ([first, rest], machines, boot, idle) => {
          const needs = [first, ...rest];
          const rack = { machines, bootMs: boot * minute, stepMs };
          const [counts] = runCounts(needs, rack, { unneededForMs: idle * minute });
          const real = runDecisions(inputOf(needs, machines, boot * minute, idle * minute));
          expect({ onMs: real.onMs, busyMs: real.busyMs, wakeUps: real.wakeUps }).toEqual({
            onMs: counts?.onMs,
            busyMs: counts?.busyMs,
            wakeUps: counts?.wakeUps,
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the same history and seed give the same result; machines that fail are quarantined and tried again', () => {
    const input = {
      ...inputOf([3, 3, 3, 0, 0, 3, 3, 1, 1, 3], 6, 5 * minute, 10 * minute),
      failureRate: 0.4,
    };
    const [first, again] = [runDecisions(input), runDecisions(input)];
    expect(again).toEqual(first);
    expect(first.failures).toBeGreaterThan(0);
    expect(runDecisions({ ...input, seed: 9 })).not.toEqual(first);
  });
});

describe('with a forecast, whatever it says', () => {
  /** The forecast of each step holds from a boot before the next one; below the ordinary rules nothing is kept. */
  const forecastOf = (
    needs: readonly number[],
    said: readonly (readonly [number, number])[],
    rack: { readonly machines: number; readonly bootMs: number; readonly stepMs: number },
    unneededForMs: number,
  ): NonNullable<DecisionsInput['forecast']> => {
    const floor = timelineOf(needs, rack, unneededForMs);
    const ahead = Math.max(0, stepMs - rack.bootMs);
    return {
      times: [
        ...needs.flatMap((_, step) => [start + step * stepMs, start + step * stepMs + ahead]),
        ...floor.times.map((at) => start + at),
      ],
      at(now) {
        const step = Math.floor((now - start) / stepMs);
        const [atLeast = 0, keep = 0] = said[step % said.length] ?? [];
        const last = floor.times.findLastIndex((at) => start + at <= now);
        return {
          pool: 'workers',
          needed: needs[step] ?? 0,
          atLeast: (now - start) % stepMs >= ahead ? atLeast : 0,
          keep: Math.max(keep, floor.on[last] ?? 0),
          confidence: 0.9,
          leadMs: stepMs,
          horizonMs: stepMs,
          method: 'constant',
          samples: step,
          costs: { constant: 0 },
        };
      },
    };
  };

  test('no pod waits longer than without it, and no limit is exceeded', () => {
    const need = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(
        fc.tuple(fc.integer({ min: 1, max: 6 }), fc.array(need, { minLength: 1, maxLength: 20 })),
        fc.array(fc.tuple(fc.nat(8), fc.nat(8)), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 2, max: 6 }),
        fc.integer({ min: 1, max: 25 }),
        fc.integer({ min: 1, max: 35 }),
        ([first, rest], said, maxNodes, boot, idle) => {
          const needs = [first, ...rest];
          const input = inputOf(needs, 8, boot * minute, idle * minute);
          const limited = { ...input, pool: { ...input.pool, limits: { ...input.pool.limits, maxNodes } } };
          const rack = { machines: maxNodes, bootMs: boot * minute, stepMs };
          const without = runDecisions(limited);
          const forecast = forecastOf(needs, said, rack, idle * minute);
          const withIt = runDecisions({ ...limited, forecast });
          for (const [pod, waited] of without.waits)
            expect(withIt.waits.get(pod)).toBeLessThanOrEqual(waited);
          expect(withIt.waitedMs).toBeLessThanOrEqual(without.waitedMs);
          expect(withIt.mostOn).toBeLessThanOrEqual(maxNodes);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('the record says which forecast, how sure, and what it was compared with', () => {
    const { forecast } = {
      forecast: forecastOf([1], [[3, 3]], { machines: 3, bootMs: 10 * minute, stepMs }, 0),
    };
    const decision = decide(
      {
        machines: ['a', 'b', 'c', 'd'].map((name) => machine(name)),
        pools: [{ ...defaultPool, name: 'workers' }],
        settings: defaultSettings,
        cluster: { nodes: [], pods: [] },
        forecasts: [{ ...forecast.at(start), costs: { constant: 1.5, linear: 2 } }],
      },
      start,
    );
    expect(decision.intents.map(({ kind }) => kind)).toEqual(['power-on', 'power-on', 'power-on']);
    expect(decision.intents[0]?.reason).toMatchObject({
      code: 'forecast-ahead',
      pool: 'workers',
      method: 'constant',
      confidence: 0.9,
      atLeast: 3,
      leadMs: 10 * minute,
    });
    expect(decision.record.reasons?.notes).toMatchObject([
      { code: 'forecast', method: 'constant', costs: { constant: 1.5, linear: 2 } },
    ]);
  });
});
