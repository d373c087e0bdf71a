import { HttpError } from '../../shared/server/http-response.ts';
import { parseJson } from '../../shared/server/json-text.ts';
import { fc } from '../../tools/support/seeded.ts';

function refused(text: string, maxDepth = 64): unknown {
  try {
    return { parsed: parseJson(text, maxDepth) };
  } catch (error) {
    if (error instanceof HttpError) return error.answer.json;
    throw error;
  }
}

test.each([
  ['', 0],
  ['  ', 2],
  ['{"a":1,,}', 7],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ['{a:1}', 1],
  ['{"a":tru}', 5],
  ['[1 2]', 3],
  ['[1,]', 3],
  ['[1,2', 4],
  ['[1}', 2],
  ['{"a":01}', 5],
  ['{"a":-}', 5],
  ['{"a":"x', 5],
  ['["\\x"]', 1],
  ['["\n"]', 1],
  ['[]]', 2],
  ['1,2', 1],
  ['{} {}', 3],
  ['\u00a0{}', 0],
  ['NaN', 0],
])('%j is malformed at %d', (text, position) => {
  expect(refused(text)).toMatchObject({
    error: expect.stringMatching(`^malformed JSON at position ${position}: `),
    position,
  });
});

test('whatever is JSON and not too deep comes through as it is', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 10 }), (text) => {
      expect(parseJson(text, 64)).toEqual(JSON.parse(text));
    }),
  );
});

test('whatever is not, is refused at a position inside the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'[]{}",:\\ \n01-.eE+truefalsn') }), (text) => {
      const answer = refused(text) as { position?: number; parsed?: unknown };
      if ('parsed' in answer) expect(answer.parsed).toEqual(JSON.parse(text));
      else expect(answer.position).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 2_000 },
  );
});

test('large strings are no problem, well-formed or not', () => {
  const large = `"${'\\n'.repeat(1_000_000)}"`;
  expect(parseJson(`[${large}]`, 64)).toEqual(['\n'.repeat(1_000_000)]);
  expect(refused(`[${large}`)).toMatchObject({ position: large.length + 1 });
});

test('depth is counted, not guessed', () => {
  expect(refused('[[[]]]', 3)).toEqual({ parsed: [[[]]] });
  expect(refused('[[[]]]', 2)).toEqual({ error: 'JSON is nested deeper than 2 levels', position: 2 });
  expect(refused('[[],[],[],{}]', 2)).toEqual({ parsed: [[], [], [], {}] });
});
