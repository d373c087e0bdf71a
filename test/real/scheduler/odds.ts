import fc from 'fast-check';

/** Present `yes` times for `no` times that it is absent. */
export const maybe = <Value>(
  arbitrary: fc.Arbitrary<Value>,
  yes = 1,
  no = 1,
): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: yes, arbitrary }, { weight: no, arbitrary: fc.constant(undefined) });
export const seldom = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  maybe(arbitrary, 1, 3);
/** Without what is undefined: the API takes "absent" for an answer, not null. */
export const record = <Shape extends object>(
  shape: {
    [Key in keyof Shape]: fc.Arbitrary<Shape[Key] | undefined>;
  },
): fc.Arbitrary<Shape> =>
  fc
    .record(shape as Record<string, fc.Arbitrary<unknown>>)
    .map(
      (value) => Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Shape,
    );
export const pick = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
export const rarely = (odds: number) =>
  fc.oneof({ weight: odds, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });

export const distinct = <Value>(
  item: fc.Arbitrary<Value>,
  key: (value: Value) => string,
  maxLength: number,
  minLength = 0,
): fc.Arbitrary<Value[]> => fc.uniqueArray(item, { selector: key, maxLength, minLength });
