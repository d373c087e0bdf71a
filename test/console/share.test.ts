import { share } from '../../console/state/share.ts';
import { fc } from '../../tools/support/seeded.ts';

const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

test('what is as it was is the very same', () => {
  const before = { items: [{ name: 'a', at: [1, 2] }, { name: 'b' }], total: 2 };
  expect(share(before, copy(before))).toBe(before);
  const after = { ...copy(before), items: [{ name: 'a', at: [1, 2] }, { name: 'c' }] };
  const shared = share(before, after) as typeof before;
  expect(shared.items[0]).toBe(before.items[0]);
  expect([shared === before, shared.items === before.items]).toEqual([false, false]);
});

test.each([
  [{ a: 1 }, {}],
  [{}, { a: undefined }],
  [{ a: undefined }, { b: undefined }],
  [[], {}],
  [null, {}],
  [[1], [1, 2]],
  [[1, 2], [1]],
])('%o and then %o are not the same', (before, after) => {
  expect(share(before, after)).toBe(after);
});

test('whatever came before, what is new is what is shown', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      // As it comes from a response: JSON knows no -0.
      const told = copy(after);
      expect(share(before, told)).toEqual(copy(after));
    }),
  );
});
