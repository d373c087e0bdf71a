import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import { type Machine, type MachineStatus, newStatus } from '../../shared/core/machine/machine.ts';
import { overdue, transition } from '../../shared/core/machine/transition.ts';
import { type Reason, textOf } from '../../shared/core/reasons/reason.ts';
import { defaultTimings as timings } from '../../shared/core/settings.ts';
import { machine, minute, now, pool, serving } from './support/builders.ts';

function outcome(given: Machine, event: MachineEvent, at = now): MachineStatus {
  const result = transition(given, event, at, timings);
  if (!result.ok) throw new Error(result.why);
  return result.status;
}

function refusal(given: Machine, event: MachineEvent): Reason | undefined {
  const result = transition(given, event, now, timings);
  return result.ok ? undefined : result.reason;
}

test('a machine nobody has looked at is off, with its power unknown', () => {
  expect(newStatus(now)).toEqual({ state: 'off', stateSince: now, powerState: 'unknown', attempts: 0 });
});

describe('guards say why', () => {
  const on: MachineEvent = { type: 'power-on-requested', operation: 'op-2' };
  const drain: MachineEvent = { type: 'drain-requested', operation: 'op-2' };
  const off: MachineEvent = { type: 'power-off-requested', operation: 'op-2' };
  const error = (status: Partial<MachineStatus>): Machine =>
    machine('m1', { status: { state: 'error', powerState: 'on', ...status } });

  test.each<[string, Machine, MachineEvent, Reason | undefined]>([
    ['a free machine', machine('m1'), on, undefined],
    [
      'one that is busy',
      machine('m1', { status: { operation: 'op-1' } }),
      on,
      { code: 'operation-running', operation: 'op-1' },
    ],
    ['one in maintenance', machine('m1', { spec: { maintenance: true } }), on, { code: 'in-maintenance' }],
    [
      'one in quarantine',
      machine('m1', {
        status: { retryAt: now + 1, lastError: { code: 'never-joined', message: 'it never joined', at: 0 } },
      }),
      on,
      { code: 'quarantined', error: 'it never joined' },
    ],
    ['one whose quarantine ends now', machine('m1', { status: { retryAt: now } }), on, undefined],
    [
      'one whose last drain was called off',
      serving('m1', { status: { retryAt: now + 1 } }),
      drain,
      { code: 'quarantined', error: undefined },
    ],
    [
      'on, though the BMC does not say so',
      machine('m1', { status: { state: 'powering-on', powerState: 'unknown' } }),
      { type: 'powered-on' },
      { code: 'power-differs', power: 'unknown', needed: 'on' },
    ],
    [
      'off, though the BMC does not say so',
      machine('m1', { status: { state: 'powering-off', powerState: 'unknown' } }),
      { type: 'powered-off' },
      { code: 'power-differs', power: 'unknown', needed: 'off' },
    ],
    [
      'found off, though its node is Ready',
      serving('m1', { status: { powerState: 'off' } }),
      { type: 'found-off' },
      { code: 'node-ready' },
    ],
    [
      'found off, node not Ready',
      serving('m1', { status: { powerState: 'off', nodeReady: false } }),
      { type: 'found-off' },
      undefined,
    ],
    [
      'joined, though its node is not Ready',
      machine('m1', { status: { state: 'joining', nodeReady: false } }),
      { type: 'joined', node: 'm1' },
      { code: 'node-not-ready' },
    ],
    [
      'drained with a pod left',
      serving('m1', { status: { state: 'draining', drain: { podsLeft: 1, podsTotal: 3 } } }),
      { type: 'drained' },
      { code: 'pods-left', pods: 1 },
    ],
    [
      'drained, but nobody counted',
      serving('m1', { status: { state: 'draining' } }),
      { type: 'drained' },
      { code: 'pods-left', pods: undefined },
    ],
    ['restart of one that never became a node', error({ bootTime: now - 1 }), off, undefined],
    ['restart of one that somebody else powered on', error({}), off, { code: 'powered-on-by-others' }],
    [
      'restart of one whose node is Ready',
      error({ kubernetesNode: 'm1', nodeReady: true, drain: { podsLeft: 0, podsTotal: 0 } }),
      off,
      { code: 'drain-first', node: 'm1' },
    ],
    [
      'restart of one whose node was never drained',
      error({ kubernetesNode: 'm1', nodeReady: false }),
      off,
      { code: 'drain-first', node: 'm1' },
    ],
    [
      'restart of one that was drained',
      error({
        bootTime: now - 1,
        kubernetesNode: 'm1',
        nodeReady: false,
        drain: { podsLeft: 0, podsTotal: 2 },
      }),
      off,
      undefined,
    ],
  ])('%s', (_name, given, event, reason) => {
    expect(refusal(given, event)).toEqual(reason);
  });
});

describe('what an event leaves behind', () => {
  test('an intent begins with a clean slate', () => {
    const given = machine('m1', {
      status: { drain: { podsLeft: 0, podsTotal: 1 }, bootTime: 1, joinTime: 2 },
    });
    const status = outcome(given, { type: 'power-on-requested', operation: 'op-2' });
    expect(status).toMatchObject({ state: 'powering-on', operation: 'op-2', stateSince: now });
    expect([status.drain, status.bootTime, status.joinTime]).toEqual([undefined, undefined, undefined]);
  });

  test('power that a person switched on is no proof of an earlier drain', () => {
    const given = machine('m1', { status: { powerState: 'on', drain: { podsLeft: 0, podsTotal: 1 } } });
    expect(outcome(given, { type: 'found-on' }).drain).toBeUndefined();
  });

  test('a machine that joins is forgiven its failures', () => {
    const given = machine('m1', {
      status: {
        state: 'joining',
        operation: 'op-1',
        nodeReady: true,
        attempts: 3,
        retryAt: now - 1,
        lastError: { code: 'never-joined', message: 'no', at: 0 },
      },
    });
    const status = outcome(given, { type: 'joined', node: 'n1' });
    expect(status).toMatchObject({ state: 'ready', kubernetesNode: 'n1', joinTime: now, attempts: 0 });
    expect([status.operation, status.retryAt, status.lastError]).toEqual([undefined, undefined, undefined]);
  });

  test('one that comes back out of quarantine is not', () => {
    const given = machine('m1', {
      status: { state: 'error', powerState: 'on', nodeReady: true, attempts: 3, retryAt: now + 1 },
    });
    expect(outcome(given, { type: 'joined', node: 'm1' })).toMatchObject({ attempts: 3, retryAt: now + 1 });
  });

  test('a drain that is called off is not tried again at once', () => {
    const given = serving('m1', {
      status: { state: 'draining', operation: 'op-1', drain: { podsLeft: 2, podsTotal: 2 } },
    });
    const status = outcome(given, { type: 'drain-aborted', why: 'a PDB' });
    expect(status).toMatchObject({ state: 'ready', attempts: 1, retryAt: now + timings.retryAfterMs });
    expect([status.operation, status.drain]).toEqual([undefined, undefined]);
  });

  test('one that loses its power while booting is quarantined, with the reason', () => {
    const given = machine('m1', { status: { state: 'joining', operation: 'op-1', powerState: 'off' } });
    expect(outcome(given, { type: 'found-off' })).toMatchObject({
      state: 'error',
      lastError: { code: 'lost-power', at: now },
      attempts: 1,
    });
  });

  test('one that serves and is switched off by hand may be used again at once', () => {
    const given = serving('m1', { status: { powerState: 'off', nodeReady: false, retryAt: now + 1 } });
    const status = outcome(given, { type: 'found-off' });
    expect(status).toMatchObject({ state: 'off' });
    expect(status.retryAt).toBeUndefined();
  });
});

test('each failure in a row doubles the quarantine, up to the maximum; a success ends the row', () => {
  const failed: MachineEvent = { type: 'failed', code: 'power-on-failed', message: 'still off' };
  let status: MachineStatus = machine('m1').status;
  const waits: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const given = machine('m1', { status: { ...status, state: 'powering-on' } });
    status = outcome(given, failed);
    waits.push(((status.retryAt ?? 0) - now) / minute);
  }
  expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
  expect(status).toMatchObject({ state: 'error', attempts: 6, lastError: { message: 'still off', at: now } });

  const off = machine('m1', { status: { ...status, state: 'powering-off', powerState: 'off' } });
  expect(outcome(off, { type: 'powered-off' })).toMatchObject({ state: 'off', attempts: 0 });
});

describe('boot times are learned', () => {
  const boots = (learnedBootMs: number | undefined, tookMs: number): number | undefined => {
    const given = machine('m1', { status: { state: 'powering-on', powerState: 'on', learnedBootMs } });
    const joining = outcome(given, { type: 'powered-on' }, now);
    const up = machine('m1', { status: { ...joining, nodeReady: true } });
    return outcome(up, { type: 'joined', node: 'm1' }, now + tookMs).learnedBootMs;
  };

  test('the first as it is, later ones half and half', () => {
    expect(boots(undefined, 80_000)).toBe(80_000);
    expect(boots(80_000, 120_000)).toBe(100_000);
  });

  test('not from a machine whose power-on nobody saw', () => {
    const given = machine('m1', {
      status: { powerState: 'on', nodeReady: true, bootTime: now - 1, learnedBootMs: 5 },
    });
    const adopted = outcome(given, { type: 'found-on' });
    const up = machine('m1', { status: adopted });
    expect(outcome(up, { type: 'joined', node: 'm1' }).learnedBootMs).toBe(5);
  });
});

describe('deadlines', () => {
  const due = (status: Partial<MachineStatus>, forMs: number) =>
    overdue(machine('m1', { status: { ...status, stateSince: now - forMs } }), pool(), timings, now);

  test.each<[Partial<MachineStatus>, number, object]>([
    [
      { state: 'powering-on' },
      timings.powerOnTimeoutMs,
      {
        type: 'failed',
        code: 'power-on-failed',
        message: textOf({ code: 'power-on-timeout', power: 'off', afterMs: 5 * minute }),
      },
    ],
    [
      { state: 'powering-off', powerState: 'on' },
      timings.powerOffTimeoutMs,
      {
        type: 'failed',
        code: 'power-off-failed',
        message: textOf({ code: 'power-off-timeout', power: 'on', afterMs: 10 * minute }),
      },
    ],
    [
      { state: 'draining', drain: { podsLeft: 3, podsTotal: 4 } },
      15 * minute,
      {
        type: 'drain-aborted',
        reason: { code: 'drain-timeout', pods: 3, afterMs: 15 * minute },
      },
    ],
    [{ state: 'joining' }, 15 * minute, { type: 'failed', code: 'never-joined' }],
    // Three times what it usually takes, but not less than the shortest, nor more than the pool's own.
    [{ state: 'joining', learnedBootMs: minute }, 3 * minute, { type: 'failed' }],
    [{ state: 'joining', learnedBootMs: 1_000 }, timings.shortestJoinTimeoutMs, { type: 'failed' }],
    [{ state: 'joining', learnedBootMs: 60 * minute }, 15 * minute, { type: 'failed' }],
    [
      { state: 'powering-off', powerState: 'on', nodeReady: true, drain: { podsLeft: 0, podsTotal: 1 } },
      timings.powerOffTimeoutMs,
      { type: 'failed', code: 'power-off-failed' },
    ],
  ])('%j lasts at most %d ms', (status, ms, event) => {
    expect(due(status, ms - 1)).toBeUndefined();
    expect(due(status, ms)).toMatchObject(event);
  });

  test('a machine that was given up and joins after all is not powered off any more', () => {
    expect(due({ state: 'powering-off', powerState: 'on', nodeReady: true }, 0)).toEqual({
      type: 'failed',
      code: 'power-off-failed',
      message: textOf({ code: 'node-came-back' }),
    });
    expect(due({ state: 'powering-off', powerState: 'on', nodeReady: false }, 0)).toBeUndefined();
  });
});
