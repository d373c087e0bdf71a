import {
  add,
  describeAmount,
  fromQuantities,
  larger,
  parseQuantity,
  shortage,
  subtract,
} from '../../shared/core/cluster/resources.ts';
import { fc } from '../../tools/support/seeded.ts';
import { Gi } from './support/builders.ts';

test.each<[string | number, number | undefined]>([
  ['250m', 0.25],
  ['4', 4],
  [4, 4],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['1e3', 1000],
  ['1E3', 1000],
  ['2E', 2e18],
  ['32Gi', 32 * Gi],
  ['1.5Ki', 1536],
  ['100k', 100_000],
  ['5n', 5e-9],
  ['-1', -1],
  ['', undefined],
  ['Gi', undefined],
  ['1 Gi', undefined],
  ['1gi', undefined],
  ['0x10', undefined],
  ['NaN', undefined],
])('the quantity %p is %p', (text, amount) => {
  if (amount === undefined) expect(parseQuantity(text)).toBeUndefined();
  else expect(parseQuantity(text)).toBeCloseTo(amount, 12);
});

test('quantities become whole units, rounded up; what is none counts as nothing', () => {
  expect(
    fromQuantities({ cpu: '100.5m', memory: '0.5', 'nvidia.com/gpu': '1', odd: 'much', absent: undefined }),
  ).toEqual({ cpu: 101, memory: 1, 'nvidia.com/gpu': 1, odd: 0 });
  expect(fromQuantities(undefined)).toEqual({});
});

test.each(['250m', '1001m', '0.001', '33m', '1.1', '2.675'])('%s cpu is exact in millicores', (cpu) => {
  const exact = Math.ceil(Number(cpu.endsWith('m') ? cpu.slice(0, -1) : (Number(cpu) * 1000).toFixed(6)));
  expect(fromQuantities({ cpu })).toEqual({ cpu: exact });
});

test('whole millicores survive, whatever their number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 256_000 }), (milli) => {
      expect(fromQuantities({ cpu: `${milli}m` })).toEqual({ cpu: milli });
      expect(fromQuantities({ cpu: String(milli / 1000) })).toEqual({ cpu: milli });
    }),
  );
});

test('sums, differences, maxima by name', () => {
  expect(add({ cpu: 1, pods: 2 }, { cpu: 2, memory: 3 })).toEqual({ cpu: 3, pods: 2, memory: 3 });
  expect(subtract({ cpu: 1 }, { cpu: 2, memory: 3 })).toEqual({ cpu: -1, memory: -3 });
  expect(larger({ cpu: 1, pods: 2 }, { cpu: 2, memory: 3 })).toEqual({ cpu: 2, pods: 2, memory: 3 });
});

test.each<[Record<string, number>, Record<string, number>, string | undefined]>([
  [{ cpu: 4000 }, { cpu: 4000 }, undefined],
  [{ cpu: 4001 }, { cpu: 4000 }, '4.001 cpu wanted, 4 cpu free'],
  [{ memory: 2 * Gi }, { memory: 1.5 * Gi }, '2Gi memory wanted, 1.5Gi memory free'],
  [{ 'nvidia.com/gpu': 1 }, { cpu: 1 }, '1 nvidia.com/gpu wanted, 0 nvidia.com/gpu free'],
  [{ 'nvidia.com/gpu': 0 }, {}, undefined],
  [{ cpu: 1 }, { cpu: -5 }, '0.001 cpu wanted, 0 cpu free'],
  // Nothing wanted fits even where everything is overcommitted.
  [{ cpu: 0 }, { cpu: -5 }, undefined],
])('%j into %j: %p', (wanted, free, why) => {
  expect(shortage(wanted, free)).toBe(why);
});

test('amounts read like Kubernetes writes them', () => {
  expect(describeAmount('cpu', 250)).toBe('0.25 cpu');
  expect(describeAmount('memory', 512)).toBe('512 memory');
  expect(describeAmount('ephemeral-storage', 2 ** 41)).toBe('2Ti ephemeral-storage');
  expect(describeAmount('pods', 3)).toBe('3 pods');
});
