import { isDeepStrictEqual } from 'node:util';
import {
  lifecycle,
  type MachineEvent,
  type MachineState,
  states,
} from '../../shared/core/machine/lifecycle.ts';
import type { Machine, MachineStatus } from '../../shared/core/machine/machine.ts';
import { overdue, transition } from '../../shared/core/machine/transition.ts';
import { defaultTimings as timings } from '../../shared/core/settings.ts';
import { machine, minute, now, pool } from './support/builders.ts';

const eventsByType: { readonly [Type in MachineEvent['type']]: Extract<MachineEvent, { type: Type }> } = {
  'power-on-requested': { type: 'power-on-requested', operation: 'op-2' },
  'powered-on': { type: 'powered-on' },
  joined: { type: 'joined', node: 'm1' },
  'drain-requested': { type: 'drain-requested', operation: 'op-2' },
  drained: { type: 'drained' },
  'drain-aborted': { type: 'drain-aborted', why: 'a test' },
  'cut-requested': { type: 'cut-requested', operation: 'op-2' },
  'power-off-requested': { type: 'power-off-requested', operation: 'op-2' },
  'powered-off': { type: 'powered-off' },
  lost: { type: 'lost', message: 'a test' },
  failed: { type: 'failed', code: 'never-joined', message: 'a test' },
  'found-on': { type: 'found-on' },
  'found-off': { type: 'found-off' },
  'maintenance-began': { type: 'maintenance-began' },
  'maintenance-ended': { type: 'maintenance-ended' },
};
const events = Object.values(eventsByType);

/** Every combination of what guards look at. */
const circumstances: Partial<MachineStatus>[] = [{}];
const vary = (values: readonly Partial<MachineStatus>[]): void => {
  circumstances.splice(0, Infinity, ...circumstances.flatMap((one) => values.map((v) => ({ ...one, ...v }))));
};
vary([{ powerState: 'on' }, { powerState: 'off' }, { powerState: 'unknown' }]);
vary([{}, { kubernetesNode: 'm1', nodeReady: false }, { kubernetesNode: 'm1', nodeReady: true }]);
vary([{}, { operation: 'op-1' }]);
vary([{}, { drain: { podsLeft: 0, podsTotal: 2 } }, { drain: { podsLeft: 1, podsTotal: 2 } }]);
vary([{}, { retryAt: now + minute, attempts: 1 }, { retryAt: now }]);
vary([{}, { bootTime: now - minute }]);

const inState = (state: MachineState): Machine[] =>
  circumstances.flatMap((status) =>
    [{}, { maintenance: true }, { made: true }].map((spec) =>
      machine('m1', { spec, status: { ...status, state } }),
    ),
  );

const happens = (to: Machine, event: MachineEvent) => transition(to, event, now, timings);

/** What may happen to whom, written down a second time: whoever changes the table changes it here too. */
const expected = `
off           power-on-requested   powering-on
off           power-off-requested  powering-off
off           found-on             joining
off           failed               error
off           maintenance-began    maintenance
powering-on   powered-on           joining
powering-on   failed               error         failed
joining       joined               ready         done
joining       found-off            error         failed
joining       cut-requested        powering-off
joining       failed               error         failed
joining       maintenance-began    maintenance
ready         drain-requested      draining
ready         cut-requested        powering-off
ready         lost                 error
ready         power-off-requested  powering-off
ready         found-off            off
ready         maintenance-began    maintenance
draining      drained              powering-off
draining      drain-aborted        ready         cancelled
draining      found-off            off           cancelled
powering-off  powered-off          off           done
powering-off  failed               error         failed
error         joined               ready
error         found-off            off
error         found-on             joining
error         power-off-requested  powering-off
error         cut-requested        powering-off
error         maintenance-began    maintenance
maintenance   maintenance-ended    off
`;

test('what may happen to a machine, and where that leads', () => {
  const rows = expected
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/).join(' '));
  // Seen from outside: in some circumstances the event is accepted, and this is what becomes of the machine.
  const seen = states.flatMap((state) =>
    events.flatMap((event) => {
      const results = inState(state).map((given) => happens(given, event));
      const accepted = results.find((result) => result.ok);
      return accepted ? [[state, event.type, accepted.status.state, accepted.ends].join(' ').trim()] : [];
    }),
  );
  expect(seen.sort()).toEqual(rows.sort());
});

describe.each(states)('a machine that is %s', (state) => {
  const { on, deadline } = lifecycle[state];

  test('takes every event, in every circumstance, if and only if the guard has nothing against it', () => {
    const wrong: unknown[] = [];
    for (const event of events)
      for (const given of inState(state)) {
        const row = on[event.type];
        const result = happens(given, event);
        const refusal = row ? row.guard?.(given, now) : { code: 'no-transition', event: event.type, state };
        const right = result.ok
          ? refusal === undefined && result.status.stateSince === now && result.status.state === row?.to
          : isDeepStrictEqual(result.reason, refusal);
        if (!right) wrong.push([event.type, given.status, result]);
      }
    expect(wrong).toEqual([]);
  });

  test('takes the event of its deadline, in every circumstance', () => {
    const longAgo = inState(state).map((given) => ({ ...given, status: { ...given.status, stateSince: 0 } }));
    const due = longAgo.map((given) => overdue(given, pool(), timings, now));
    expect(due.every((event) => (event !== undefined) === (deadline !== undefined))).toBe(true);
    for (const [index, given] of longAgo.entries()) {
      const event = due[index];
      if (event) expect(happens(given, event)).toMatchObject({ ok: true });
    }
  });
});

test('an operation is only ever left with machines that somebody works on until a deadline', () => {
  const reached = new Set<MachineState>();
  for (const state of states)
    for (const event of events)
      for (const given of inState(state)) {
        const result = happens(given, event);
        const begins = 'operation' in event;
        // Only states with a deadline carry an operation: that is what is shown here, step by step.
        const carried = given.status.operation !== undefined && lifecycle[state].deadline !== undefined;
        if (result.ok && result.status.operation && (begins || carried)) reached.add(result.status.state);
      }
  expect([...reached].sort()).toEqual(states.filter((state) => lifecycle[state].deadline).sort());
});

test('a second operation is never accepted while one is under way', () => {
  for (const state of states)
    for (const event of events.filter((candidate) => 'operation' in candidate))
      for (const given of inState(state).filter(({ status }) => status.operation))
        expect(happens(given, event).ok).toBe(false);
});

test('powering off is only reached when drained, or with nothing to lose', () => {
  let reached = 0;
  // Whoever asks for a cut knows what is lost; what was found off has nothing left to lose.
  for (const state of states)
    for (const event of events.filter(({ type }) => type !== 'cut-requested'))
      for (const given of inState(state)) {
        const result = happens(given, event);
        if (!result.ok || result.status.state !== 'powering-off' || state === 'powering-off') continue;
        reached += 1;
        const { nodeReady, drain } = given.status;
        expect(drain?.podsLeft === 0 || !nodeReady || state === 'off').toBe(true);
      }
  expect(reached).toBeGreaterThan(0);
});

test('a machine in maintenance is never given work', () => {
  for (const state of states)
    for (const event of events.filter((candidate) => 'operation' in candidate))
      for (const given of inState(state).filter(({ spec }) => spec.maintenance))
        expect(happens(given, event).ok).toBe(false);
});

test('every state is reached from the first one', () => {
  const reached = new Set<MachineState>(['off']);
  for (const state of reached)
    for (const event of events)
      for (const given of inState(state)) {
        const result = happens(given, event);
        if (result.ok) reached.add(result.status.state);
      }
  expect([...reached].sort()).toEqual([...states].sort());
});

describe('what people set by hand', () => {
  const asked = (state: MachineState, event: MachineEvent, spec: object, status: object = {}) => {
    const result = happens(machine('m1', { spec, status: { state, ...status } }), event);
    return result.ok ? result.status.state : result.reason;
  };

  test('powerState off: never powered on', () => {
    expect(asked('off', eventsByType['power-on-requested'], { powerState: 'off' })).toEqual({
      code: 'stays-off',
    });
    expect(asked('off', eventsByType['power-on-requested'], { powerState: 'on' })).toBe('powering-on');
  });

  test('powerState on: never drained', () => {
    expect(asked('ready', eventsByType['drain-requested'], { powerState: 'on' })).toEqual({
      code: 'stays-on',
    });
    expect(asked('ready', eventsByType['drain-requested'], { powerState: 'off' })).toBe('draining');
  });

  test('what cannot be powered off is not even drained', () => {
    const status = { cannotPowerOff: true };
    expect(asked('ready', eventsByType['drain-requested'], {}, status)).toEqual({ code: 'cannot-power-off' });
  });

  test('only a machine made on demand is powered off when it is off', () => {
    expect(asked('off', eventsByType['power-off-requested'], {})).toEqual({ code: 'not-on-demand' });
    expect(asked('off', eventsByType['power-off-requested'], { made: true })).toBe('powering-off');
  });
});

test('where only its node tells that it is on, a machine may take as long as a boot takes', () => {
  const status = { state: 'powering-on', stateSince: now - 6 * minute, operation: 'op-1' } as const;
  const late = (blind: boolean) =>
    overdue(machine('m1', { status: { ...status, blind } }), pool(), timings, now);
  expect(late(false)?.type).toBe('failed');
  expect(late(true)).toBeUndefined();
});
