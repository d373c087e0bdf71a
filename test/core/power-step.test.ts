import type { Power, PowerVerb } from '../../shared/core/machine/machine.ts';
import { nextPowerStep, type PowerStep, type Powers } from '../../shared/core/machine/power-step.ts';
import { stableReads, defaultTimings as timings } from '../../shared/core/settings.ts';
import { fc } from '../../tools/support/seeded.ts';
import { now, operation } from './support/builders.ts';

type Command = { readonly verb: PowerVerb; readonly at: number };

const able: Powers = { softOff: true, hardOff: true };

const step = (
  goal: 'on' | 'off',
  power: Power,
  commands: readonly Command[] = [],
  times = 1,
  powers: Powers = able,
): PowerStep => nextPowerStep(operation(goal, { commands }), { power, times }, powers, timings, now);

const ago = (verb: PowerVerb, ms: number): Command => ({ verb, at: now - ms });

describe.each(['on', 'off'] as const)('towards %s', (goal) => {
  test('waits while the power is unknown, even if nothing was sent yet', () => {
    expect(step(goal, 'unknown', [], 9)).toMatchObject({ kind: 'wait', reason: { code: 'power-unknown' } });
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
    expect(again).toMatchObject({
      kind: 'command',
      verb: 'on',
      reason: { code: 'sent-again', power: 'off' },
    });
  });
});

describe('off', () => {
  const patience = timings.softOffPatienceMs;

  test('is asked for softly, then waited for', () => {
    expect(step('off', 'on')).toEqual({ kind: 'command', verb: 'soft-off', why: 'a test' });
    expect(step('off', 'on', [ago('soft-off', timings.resendAfterMs - 1)])).toMatchObject({ kind: 'wait' });
  });

  test('is asked for once of what was made on demand and is there, though its power is unknown', () => {
    const lingers: Powers = { ...able, lingers: true };
    expect(step('off', 'unknown', [], 1, lingers)).toMatchObject({ kind: 'command', verb: 'soft-off' });
    expect(step('off', 'unknown', [ago('soft-off', 1)], 1, lingers)).toMatchObject({ kind: 'wait' });
    expect(step('on', 'unknown', [], 1, lingers)).toMatchObject({ kind: 'wait' });
  });

  test('is asked for softly again when it changed nothing', () => {
    expect(step('off', 'on', [ago('soft-off', timings.resendAfterMs)])).toMatchObject({
      kind: 'command',
      verb: 'soft-off',
    });
  });

  test('becomes hard when softness was in vain since the first command, and the last has had its time', () => {
    expect(step('off', 'on', [ago('soft-off', patience - 1), ago('soft-off', 1)])).toMatchObject({
      kind: 'wait',
    });
    const again = (ms: number) => step('off', 'on', [ago('soft-off', patience), ago('soft-off', ms)]);
    expect(again(timings.resendAfterMs - 1)).toMatchObject({ kind: 'wait' });
    expect(again(timings.resendAfterMs)).toMatchObject({ kind: 'command', verb: 'hard-off' });
  });

  test('is soft once more when the only one may never have been sent', () => {
    expect(step('off', 'on', [ago('soft-off', 2 * patience)])).toMatchObject({
      kind: 'command',
      verb: 'soft-off',
    });
  });

  test('stays hard, and is sent again', () => {
    const hard = (ms: number) => step('off', 'on', [ago('soft-off', 2 * patience), ago('hard-off', ms)]);
    expect(hard(timings.resendAfterMs - 1)).toMatchObject({
      kind: 'wait',
      reason: { code: 'requested', verb: 'hard-off' },
    });
    expect(hard(timings.resendAfterMs)).toMatchObject({ kind: 'command', verb: 'hard-off' });
  });
});

describe('what the driver cannot do is planned without', () => {
  test('no soft off: hard at once', () => {
    expect(step('off', 'on', [], 1, { softOff: false, hardOff: true })).toMatchObject({ verb: 'hard-off' });
  });

  test('no hard off: soft again and again', () => {
    const commands = [ago('soft-off', 2 * timings.softOffPatienceMs)];
    const powers = { softOff: true, hardOff: false };
    expect(step('off', 'on', commands, 1, powers)).toMatchObject({ verb: 'soft-off' });
  });

  test('neither: it is said at once, also while the power is unknown, unless it is off already', () => {
    const powers = { softOff: false, hardOff: false };
    const impossible = { kind: 'impossible', reason: { code: 'cannot-power-off' } };
    expect(step('off', 'on', [], 1, powers)).toMatchObject(impossible);
    expect(step('off', 'unknown', [], 1, powers)).toMatchObject(impossible);
    expect(step('off', 'off', [], stableReads, powers)).toEqual({ kind: 'reached' });
    expect(step('on', 'off', [], 1, powers)).toMatchObject({ verb: 'on' });
  });
});

describe('a BMC gets one command at a time', () => {
  const since = (ms: number): Powers => ({ ...able, lastCommandAt: now - ms });
  const every = timings.commandEveryMs;

  test.each(['on', 'off'] as const)('towards %s', (goal) => {
    const power = goal === 'on' ? 'off' : 'on';
    expect(step(goal, power, [], 1, since(every - 1))).toMatchObject({ kind: 'wait' });
    expect(step(goal, power, [], 1, since(every))).toMatchObject({ kind: 'command' });
  });

  test('a clock that is far ahead is not waited for', () => {
    expect(step('on', 'off', [], 1, since(-3_600_000))).toMatchObject({ kind: 'command' });
  });
});

describe('never on while an off is pending', () => {
  const pending = (ms: number): Powers => ({ ...able, pendingOff: ago('soft-off', ms) });

  test('on is not believed while an off may still come', () => {
    const waiting = step('on', 'on', [], 9, pending(30_000));
    expect(waiting).toMatchObject({
      kind: 'wait',
      reason: { code: 'off-may-come', agoMs: 30_000 },
    });
    expect(step('on', 'on', [], 9, pending(timings.powerOffTimeoutMs))).toEqual({ kind: 'reached' });
  });

  test('on is sent only once off has been read to be sure', () => {
    expect(step('on', 'off', [], stableReads - 1, pending(30_000))).toMatchObject({ kind: 'wait' });
    expect(step('on', 'off', [], stableReads, pending(30_000))).toMatchObject({ verb: 'on' });
  });

  test('it does not keep an off from being carried out', () => {
    expect(step('off', 'on', [], 1, pending(30_000))).toMatchObject({ verb: 'soft-off' });
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
