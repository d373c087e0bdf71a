import fc from 'fast-check';
import { checkFiner, isUsual, toEvent } from '../../shared/runtime/cloud-event.ts';

const event = { specversion: '1.0' as const, id: 'e-1', source: '/here', type: 'com.example.thing' };

describe('what is checked no further', () => {
  test.each([
    '/apis/v1/namespaces/bamel/pingsources/tick',
    'https://10.0.0.1:443',
    'urn:example:1',
    'bench',
    '/',
  ])('a source like %s', (source) => expect(isUsual({ ...event, source })).toBe(true));

  test.each([
    ['a source with anything else in it', { source: '/with space' }],
    ['a source that only looks like a URL', { source: 'http://[host]/' }],
    ['a schema of its data', { dataschema: 'not a uri' }],
    ['an extension whose name has capitals', { myExtension: 'x' }],
    ['an extension that is a number', { sequence: 1.5 }],
  ])('not %s: it is refused', (_, parts) => {
    expect(isUsual({ ...event, ...parts })).toBe(false);
    expect(() => toEvent({ ...event, ...parts })).toThrow('CloudEvent not valid');
  });

  test('whatever passes for usual is right by the finer rules too', () => {
    const odd = fc.string({
      unit: fc.constantFrom(...'ab1:/.-_%[]? @'.split('')),
      minLength: 1,
      maxLength: 12,
    });
    const source = fc.oneof(odd, fc.webUrl(), fc.string({ minLength: 1 }));
    let usual = 0;
    fc.assert(
      fc.property(
        source,
        fc.dictionary(odd, fc.oneof(fc.string(), fc.boolean(), fc.double())),
        (from, extra) => {
          const given = { ...extra, ...event, source: from };
          if (!isUsual(given)) return;
          usual += 1;
          checkFiner(given);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(usual).toBeGreaterThan(100);
  });
});
