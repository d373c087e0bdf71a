import { outlookOf } from '../../shared/core/decide/outlook.ts';
import { defaultPool, defaultSettings } from '../../shared/core/settings.ts';
import { machine, minute, now, serving } from './support/builders.ts';

const pool = { ...defaultPool, name: 'workers' };
const look = (machines: ReturnType<typeof machine>[], more: object = {}) =>
  outlookOf({ machines, pools: [{ ...pool, ...more }], settings: defaultSettings }, now);

test('a boot is due when the learned time is over; without one no time is given', () => {
  const booting = { state: 'joining' as const, bootTime: now - minute };
  expect(
    look([
      machine('new', { status: booting }),
      machine('known', { status: { ...booting, learnedBootMs: 3 * minute } }),
    ]).map(({ kind, machine: name, at }) => [kind, name, at]),
  ).toEqual([
    ['boot', 'known', now + 2 * minute],
    ['boot', 'new', undefined],
  ]);
});

test('an idle machine is due when its patience is over, and not before a pause of its pool ends', () => {
  const idle = serving('idle', { metrics: { idleSince: now - 8 * minute } });
  expect(look([idle])).toMatchObject([{ kind: 'idle', machine: 'idle', at: now + 2 * minute }]);
  const failed = machine('failed', {
    status: {
      state: 'error',
      retryAt: now + 5 * minute,
      lastError: { code: 'never-joined', message: 'no answer', at: now - 1_000 },
    },
  });
  const pauseEnds = now - 1_000 + defaultSettings.cooldowns.afterFailureMs;
  expect(look([idle, failed]).map(({ kind, at }) => [kind, at])).toEqual([
    ['idle', pauseEnds],
    ['pause', pauseEnds],
    ['retry', now + 5 * minute],
  ]);
});

test('machines that stay on, by hand or by another autoscaler, are not due', () => {
  const kept = serving('kept', { spec: { powerState: 'on' }, metrics: { idleSince: now - minute } });
  const idle = serving('idle', { metrics: { idleSince: now - minute } });
  expect(look([kept])).toEqual([]);
  expect(look([idle], { managedBy: 'clusterAutoscaler' })).toEqual([]);
});

test('the next opening of a schedule, within a day', () => {
  const schedule = [{ cron: '0 * * * *', timeZone: 'UTC', forMs: minute, minNodes: 3 }];
  const hour = 60 * minute;
  expect(look([], { schedule })).toMatchObject([
    { kind: 'schedule', pool: 'workers', at: Math.ceil((now + 1) / hour) * hour },
  ]);
  expect(look([], { schedule: [{ ...schedule[0], cron: '0 0 30 2 *' }] })).toEqual([]);
});
