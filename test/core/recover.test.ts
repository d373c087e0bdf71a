import { type MachineState, states } from '../../shared/core/machine/lifecycle.ts';
import type { MachineSpec, MachineStatus, Power } from '../../shared/core/machine/machine.ts';
import { type Seen, unexpectedChange } from '../../shared/core/machine/observed-power.ts';
import { transition } from '../../shared/core/machine/transition.ts';
import { defaultTimings } from '../../shared/core/settings.ts';
import { machine, now } from './support/builders.ts';

const found = (power: Power, status: Partial<MachineStatus>, spec: Partial<MachineSpec> = {}) =>
  unexpectedChange(machine('m1', { spec, status }), { power }, 'op-2', now)?.type;

const neverJoined = { code: 'never-joined', message: 'no node', at: 0 } as const;

test.each<[string, Power, Partial<MachineStatus>, string | undefined]>([
  ['a machine at rest that is off', 'off', { state: 'off' }, undefined],
  ['one that a person switched on', 'on', { state: 'off' }, 'found-on'],
  ['one that serves', 'on', { state: 'ready' }, undefined],
  ['one that serves and a person switched off', 'off', { state: 'ready' }, 'found-off'],
  ['one that is booting and lost its power', 'off', { state: 'joining', operation: 'op-1' }, 'found-off'],
  ['one that is being powered on', 'off', { state: 'powering-on', operation: 'op-1' }, undefined],
  [
    'one that is being drained and lost its power',
    'off',
    { state: 'draining', operation: 'op-1' },
    'found-off',
  ],
  ['one that is being powered off', 'on', { state: 'powering-off', operation: 'op-1' }, undefined],
  ['one in quarantine', 'off', { state: 'error', lastError: neverJoined, retryAt: now + 1 }, undefined],
  [
    'one whose quarantine is over, off',
    'off',
    { state: 'error', lastError: neverJoined, retryAt: now },
    'found-off',
  ],
  [
    'one whose quarantine is over, on by us, never a node: only a restart can help',
    'on',
    { state: 'error', lastError: neverJoined, retryAt: now, bootTime: now - 1 },
    'power-off-requested',
  ],
  [
    'one whose quarantine is over, on but not by us, never a node: somebody may be using it',
    'on',
    { state: 'error', lastError: neverJoined, retryAt: now },
    'found-on',
  ],
  [
    'one whose quarantine is over, on, known as a node',
    'on',
    { state: 'error', lastError: neverJoined, retryAt: now, kubernetesNode: 'm1' },
    'found-on',
  ],
  [
    'one that refused to go off',
    'on',
    { state: 'error', lastError: { code: 'power-off-failed', message: 'still on', at: 0 }, retryAt: now },
    'found-on',
  ],
  ['one in maintenance no more', 'off', { state: 'maintenance' }, 'maintenance-ended'],
])('%s', (_name, power, status, event) => {
  expect(found(power, status)).toBe(event);
});

const unhealthy = { code: 'unhealthy', message: 'PSU 2 failed', at: 0 } as const;

test.each<[string, Partial<Seen>, Partial<MachineStatus>, string | undefined]>([
  ['ill and off: quarantined before it is chosen', { health: 'critical' }, { state: 'off' }, 'failed'],
  ['only a warning', { health: 'warning' }, { state: 'off' }, undefined],
  [
    'ill and about to be powered on',
    { health: 'critical' },
    { state: 'powering-on', operation: 'op-1' },
    undefined,
  ],
  [
    'ill and serving: reported, not touched',
    { power: 'on', health: 'critical' },
    { state: 'ready' },
    undefined,
  ],
  [
    'still ill when its time is over',
    { health: 'critical' },
    { state: 'error', lastError: unhealthy, retryAt: now },
    undefined,
  ],
  [
    'well before its time is over',
    { health: 'ok' },
    { state: 'error', lastError: unhealthy, retryAt: now + 1 },
    'found-off',
  ],
  [
    'well, but in quarantine for something else',
    { health: 'ok' },
    { state: 'error', lastError: neverJoined, retryAt: now + 1 },
    undefined,
  ],
  [
    'not measured any more: it waits for its time',
    {},
    { state: 'error', lastError: unhealthy, retryAt: now + 1 },
    undefined,
  ],
])('hardware: %s', (_name, seen, status, event) => {
  const given = machine('m1', { status });
  expect(unexpectedChange(given, { power: 'off', ...seen }, 'op-2', now)?.type).toBe(event);
});

test.each<[string, Power, Partial<MachineStatus>, Partial<MachineSpec>, string | undefined]>([
  ['powerState on, off', 'off', { state: 'off' }, { powerState: 'on' }, 'power-on-requested'],
  ['powerState on, on', 'on', { state: 'ready' }, { powerState: 'on' }, undefined],
  [
    'powerState on, in quarantine',
    'off',
    { state: 'off', retryAt: now + 1 },
    { powerState: 'on' },
    undefined,
  ],
  ['powerState off, serving', 'on', { state: 'ready' }, { powerState: 'off' }, 'drain-requested'],
  [
    'powerState off, on its way off already',
    'on',
    { state: 'draining', operation: 'op-1' },
    { powerState: 'off' },
    undefined,
  ],
  ['powerState off, off', 'off', { state: 'off' }, { powerState: 'off' }, undefined],
  ['made on demand and left over', 'off', { state: 'off' }, { made: true }, 'power-off-requested'],
  [
    'made on demand, found on and never a node: nobody else uses it',
    'on',
    { state: 'error', lastError: neverJoined, retryAt: now },
    { made: true },
    'power-off-requested',
  ],
  [
    'made on demand, its operation under way',
    'off',
    { state: 'powering-on', operation: 'op-1' },
    { made: true },
    undefined,
  ],
])('by hand: %s', (_name, power, status, spec, event) => {
  expect(found(power, status, spec)).toBe(event);
});

test('maintenance begins for whoever is not operated on, and is not disturbed', () => {
  const begins = states.filter(
    (state) => found('on', { state }, { maintenance: true }) === 'maintenance-began',
  );
  expect(begins).toEqual<MachineState[]>(['off', 'joining', 'ready', 'error']);
  expect(found('on', { state: 'maintenance' }, { maintenance: true })).toBeUndefined();
});

test('unknown power is never a surprise', () => {
  expect(states.filter((state) => state !== 'maintenance' && found('unknown', { state }))).toEqual([]);
});

test('what is a surprise can happen, unless its guard says otherwise', () => {
  for (const state of states)
    for (const power of ['on', 'off'] as const) {
      const given = machine('m1', { status: { state, powerState: power } });
      const event = unexpectedChange(given, { power }, 'op-2', now);
      if (event)
        expect([state, event.type, transition(given, event, now, defaultTimings).ok]).toEqual([
          state,
          event.type,
          true,
        ]);
    }
});
