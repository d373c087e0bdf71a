import { bootOf } from '../../console/boot.ts';
import { fatesOf } from '../../console/candidates.ts';
import { duration, energy, moment, resources, watts } from '../../console/format.ts';
import { matches, zonesOf } from '../../console/racks.ts';
import { backoffMs } from '../../console/state/backoff.ts';
import { hashOf, parseHash } from '../../console/state/place.ts';
import { createSseParser, type ServerEvent } from '../../console/state/sse.ts';
import type { MachineView } from '../../shared/view/shapes.ts';

describe('server-sent events', () => {
  const text =
    'id: 1\nevent: hello\ndata: {}\n\n: still here\n\nevent: changed\ndata: ["machines"]\n\ndata: a\ndata: b\n\n';
  const expected: ServerEvent[] = [
    { event: 'hello', data: '{}' },
    { event: 'changed', data: '["machines"]' },
    { event: 'message', data: 'a\nb' },
  ];

  test.each([1, 2, 3, 7, text.length])('in pieces of %d characters', (size) => {
    const seen: ServerEvent[] = [];
    const feed = createSseParser((event) => seen.push(event));
    for (let at = 0; at < text.length; at += size) feed(text.slice(at, at + size));
    expect(seen).toEqual(expected);
  });

  test('an event that is not over is kept back', () => {
    const seen: ServerEvent[] = [];
    createSseParser((event) => seen.push(event))('event: changed\ndata: []\n');
    expect(seen).toEqual([]);
  });
});

test('waits grow with failures, up to a bound, and are spread', () => {
  expect([1, 2, 3, 4, 50].map((failures) => backoffMs(failures, () => 1))).toEqual([
    500, 1_000, 2_000, 4_000, 15_000,
  ]);
  expect(backoffMs(3, () => 0)).toBe(1_000);
});

test.each([
  ['', { page: 'racks', name: '' }],
  ['#/', { page: 'racks', name: '' }],
  ['#/pools', { page: 'pools', name: '' }],
  ['#/machines/mini-1', { page: 'machines', name: 'mini-1' }],
  ['#/machines/a%2Fb%20c', { page: 'machines', name: 'a/b c' }],
  ['#/machines/%E0%A4', { page: 'machines', name: '%E0%A4' }],
])('%s is a place', (hash, place) => {
  expect(parseHash(hash)).toEqual(place);
});

test('a place made of any name is found again', () => {
  const name = '<img src=x>/ü#?%';
  expect(parseHash(hashOf('machines', name))).toEqual({ page: 'machines', name });
});

test('numbers as people read them', () => {
  expect([0, 59_400, 60_000, 200_000, 3_600_000, 5_400_000, 4 * 86_400_000].map(duration)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '3 min 20 s',
    '1 h',
    '1 h 30 min',
    '4 d',
  ]);
  expect([undefined, 0, 1_234, 12_345].map(watts)).toEqual(['–', '0 W', '1234 W', '12.3 kW']);
  expect([0.0123, 2.5].map(energy)).toEqual(['12.3 Wh', '2.5 kWh']);
  expect(resources({ cpu: 2_500, memory: 4 * 2 ** 30, 'nvidia.com/gpu': 1, pods: 0 })).toBe(
    '2.5\u00a0cpu · 4\u00a0Gi\u00a0memory · 1\u00a0nvidia.com/gpu',
  );
  expect(resources({})).toBe('nothing');
  const noon = new Date(2026, 10, 16, 12, 0, 5).getTime();
  expect([moment(noon, noon), moment(noon - 86_400_000, noon)]).toEqual(['12:00:05', '15 Nov 12:00:05']);
});

const machine = (more: object): MachineView =>
  ({
    name: 'm',
    pool: 'p',
    state: 'off',
    node: {},
    boot: {},
    capacity: 'none',
    stateSince: 0,
    ...more,
  }) as MachineView;

test('machines stand in their racks, in the order people count', () => {
  const zones = zonesOf([
    machine({ name: 'n-10', rack: 'r2', zone: 'a' }),
    machine({ name: 'n-9', rack: 'r2', zone: 'a' }),
    machine({ name: 'n-1', rack: 'r10', zone: 'a' }),
    machine({ name: 'lone' }),
  ]);
  expect(
    zones.map(({ name, racks }) => [
      name,
      racks.map((rack) => [rack.name, rack.machines.map((one) => one.name)]),
    ]),
  ).toEqual([
    ['', [['', ['lone']]]],
    [
      'a',
      [
        ['r2', ['n-9', 'n-10']],
        ['r10', ['n-1']],
      ],
    ],
  ]);
});

test('slices of remote clusters stand with their provider', () => {
  const zones = zonesOf([
    machine({ name: 's-1', offer: 'cloud-a.large' }),
    machine({ name: 's-2', offer: 'cloud-b.small' }),
    machine({ name: 's-3', offer: 'cloud-b.small', zone: 'north', rack: 'r1' }),
  ]);
  expect(zones.map(({ name, racks }) => [name, racks.map((rack) => rack.name)])).toEqual([
    ['north', ['r1']],
    ['remote', ['cloud-a', 'cloud-b']],
  ]);
  expect(matches(machine({ name: 's-1', offer: 'cloud-a.large' }), 'remote cloud-a', '')).toBe(true);
});

test('machines are found by every word, and by state', () => {
  const one = machine({ name: 'gpu-3', pool: 'train', rack: 'r7', state: 'ready' });
  expect([
    matches(one, 'R7 gpu', ''),
    matches(one, 'r7 cpu', ''),
    matches(one, '', 'ready'),
    matches(one, '', 'off'),
  ]).toEqual([true, false, true, false]);
});

test('how far a boot is, compared with the ones before', () => {
  const coming = { capacity: 'coming' as const, stateSince: 50, boot: { startedAt: 100, learnedMs: 1_000 } };
  expect(bootOf(coming, 600)).toEqual({ elapsedMs: 500, learnedMs: 1_000, share: 0.5 });
  expect(bootOf(coming, 9_000)).toMatchObject({ share: 0.98 });
  expect(bootOf({ ...coming, boot: {} }, 600)).toEqual({ elapsedMs: 550 });
  expect(bootOf({ ...coming, capacity: 'serving' }, 600)).toBeUndefined();
});

test('machines that fared the same are told together, what was done first', () => {
  const candidate = (name: string, verdict: string, why: string, more = {}) => ({
    machine: name,
    verdict,
    why,
    ...more,
  });
  const fates = fatesOf([
    candidate('a', 'rejected', 'not needed', { alike: { count: 9, examples: [] } }),
    candidate('b', 'kept', 'in use'),
    candidate('c', 'rejected', 'not needed'),
    candidate('d', 'power-on', 'holds 3'),
    candidate('e', 'rejected', 'quarantined'),
  ]);
  expect(
    fates.map(({ verdict, why, machines, count }) => [
      verdict,
      why,
      machines.map((one) => one.machine),
      count,
    ]),
  ).toEqual([
    ['power-on', 'holds 3', ['d'], 1],
    ['kept', 'in use', ['b'], 1],
    ['rejected', 'quarantined', ['e'], 1],
    ['rejected', 'not needed', ['a', 'c'], 11],
  ]);
});
