import { z } from 'zod';
import { durationMs, formatDuration } from '../../shared/schema/duration.ts';
import { fc } from '../../tools/support/seeded.ts';

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['15m', 900_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['0s', 0],
])('%s is %d ms', (text, ms) => {
  expect(durationMs.parse(text)).toBe(ms);
});

test.each(['', '15', 'm', '-1s', '1 m', '1w', '1h 30m', 'Infinitys', '99999999999999999999d'])(
  '%p is none',
  (text) => {
    const { error } = durationMs.safeParse(text);
    expect(error?.issues[0]?.message).toMatch(/^not a duration: write "500ms"/);
  },
);

test('what is formatted is read back exactly', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 12 }), (ms) => {
      expect(durationMs.parse(formatDuration(ms))).toBe(ms);
    }),
  );
});

test('is a string with a pattern to whoever reads the schema', () => {
  expect(z.toJSONSchema(durationMs, { io: 'input' })).toMatchObject({
    type: 'string',
    pattern: expect.any(String),
  });
});
