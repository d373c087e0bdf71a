import fc from 'fast-check';
import type { Power, PowerVerb } from '../../shared/core/machine.ts';
import { nextPowerStep, type PowerStep } from '../../shared/core/power-step.ts';
import { stableReads, defaultTimings as timings } from '../../shared/core/settings.ts';
import { now, operation } from './support/builders.ts';

type Command = { readonly verb: PowerVerb; readonly at: number };

const step = (goal: 'on' | 'off', power: Power, commands: readonly Command[] = [], times = 1): PowerStep =>
  nextPowerStep(operation(goal, { commands }), { power, times }, timings, now);

const ago = (verb: PowerVerb, ms: number): Command => ({ verb, at: now - ms });

describe.each(['on', 'off'] as const)('towards %s', (goal) => {
  test('waits while the power is unknown, even if nothing was sent yet', () => {
    expect(step(goal, 'unknown', [], 9)).toEqual({ kind: 'wait', why: 'power is unknown' });
  });

  test('believes consecutive reads only', () => {
    expect(step(goal, goal, [], stableReads - 1)).toMatchObject({ kind: 'wait' });
    expect(step(goal, goal, [], stableReads)).toEqual({ kind: 'reached' });
  });
});

describe('on', () => {
  test('is sent once, then waited for', () => {
    expect(step('on', 'off')).toEqual({ kind: 'command', verb: 'on', why: 'a test' });
    expect(step('on', 'off', [ago('on', timings.resendAfterMs - 1)])).toMatchObject({ kind: 'wait' });
  });

  test('is sent again when it changed nothing', () => {
    const again = step('on', 'off', [ago('on', timings.resendAfterMs)]);
    expect(again).toEqual({ kind: 'command', verb: 'on', why: 'still off: sent again' });
  });
});

describe('off', () => {
  const patience = timings.softOffPatienceMs;

  test('is asked for softly, then waited for', () => {
    expect(step('off', 'on')).toEqual({ kind: 'command', verb: 'soft-off', why: 'a test' });
    expect(step('off', 'on', [ago('soft-off', timings.resendAfterMs - 1)])).toMatchObject({ kind: 'wait' });
  });

  test('is asked for softly again when it changed nothing', () => {
    expect(step('off', 'on', [ago('soft-off', timings.resendAfterMs)])).toMatchObject({
      kind: 'command',
      verb: 'soft-off',
    });
  });

  test('becomes hard when softness was in vain since the first command, however recent the last', () => {
    expect(step('off', 'on', [ago('soft-off', patience - 1), ago('soft-off', 1)])).toMatchObject({
      kind: 'wait',
    });
    expect(step('off', 'on', [ago('soft-off', patience), ago('soft-off', 1)])).toMatchObject({
      kind: 'command',
      verb: 'hard-off',
    });
  });

  test('stays hard, and is sent again', () => {
    const hard = (ms: number) => step('off', 'on', [ago('soft-off', 2 * patience), ago('hard-off', ms)]);
    expect(hard(timings.resendAfterMs - 1)).toEqual({ kind: 'wait', why: 'hard off was requested' });
    expect(hard(timings.resendAfterMs)).toMatchObject({ kind: 'command', verb: 'hard-off' });
  });
});

test('whatever was read and sent: only commands towards the goal, softly first, never faster than allowed', () => {
  const command = fc.record({
    verb: fc.constantFrom<PowerVerb>('on', 'soft-off', 'hard-off'),
    at: fc.integer({ min: now - 10 * timings.softOffPatienceMs, max: now }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom('on' as const, 'off' as const),
      fc.constantFrom<Power>('on', 'off', 'unknown'),
      fc.integer({ min: 1, max: 3 }),
      fc.array(command, { maxLength: 4 }).map((list) => list.sort((a, b) => a.at - b.at)),
      (goal, power, times, commands) => {
        const result = step(goal, power, commands, times);
        if (result.kind === 'reached') {
          expect(power).toBe(goal);
          expect(times).toBeGreaterThanOrEqual(stableReads);
        }
        if (result.kind !== 'command') return;
        expect(power).toBe(goal === 'on' ? 'off' : 'on');
        expect(result.verb === 'on').toBe(goal === 'on');
        const last = commands.at(-1);
        if (!last) expect(result.verb).not.toBe('hard-off');
        else if (result.verb === last.verb)
          expect(now - last.at).toBeGreaterThanOrEqual(timings.resendAfterMs);
      },
    ),
  );
});
