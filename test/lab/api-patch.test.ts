import { applyJsonPatch } from '../../simulator/lab/api/json-patch.ts';
import { applyMergePatch, applyStrategicPatch } from '../../simulator/lab/api/merge-patch.ts';

// Examples of RFC 6902 (appendix A).
test.each([
  [
    'an item is put into a list',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  [
    'an item is put at the end of a list',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
  [
    'an item is taken from a list',
    { foo: ['bar', 'qux', 'baz'] },
    [{ op: 'remove', path: '/foo/1' }],
    { foo: ['bar', 'baz'] },
  ],
  [
    'a value is moved',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'a value is copied',
    { a: { b: [1] } },
    [{ op: 'copy', from: '/a/b', path: '/c' }],
    { a: { b: [1] }, c: [1] },
  ],
  [
    'a key with ~ and / is found',
    { '/': 9, '~1': 10 },
    [{ op: 'test', path: '/~01', value: 10 }],
    { '/': 9, '~1': 10 },
  ],
])('JSON patch: %s', (_name, document, patch, result) => {
  const before = structuredClone(document);
  expect(applyJsonPatch(document, patch)).toEqual(result);
  expect(document).toEqual(before);
});

test.each([
  ['a missing parent', [{ op: 'add', path: '/a/b', value: 1 }]],
  ['an index outside of the list', [{ op: 'add', path: '/list/9', value: 1 }]],
  ['a prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }]],
  ['an unknown operation', [{ op: 'toggle', path: '/list' }]],
])('a JSON patch to %s is refused', (_name, patch) => {
  expect(() => applyJsonPatch({ list: [] }, patch)).toThrow();
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

// Examples of RFC 7386 (appendix A).
test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('merge patch of %j with %j gives %j', (target, patch, result) => {
  expect(applyMergePatch(target, patch)).toEqual(result);
});

test('strategic patch: items keep the order the patch asks for', () => {
  const target = { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] };
  const patch = {
    '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'd' }],
    containers: [{ name: 'd', image: 'd' }],
  };
  expect(applyStrategicPatch(target, patch)).toMatchObject({
    containers: [{ name: 'b' }, { name: 'c' }, { name: 'a' }, { name: 'd', image: 'd' }],
  });
});

test('strategic patch: a map or a list can be replaced or emptied as a whole', () => {
  const target = {
    labels: { a: '1', b: '2' },
    env: [{ name: 'X' }],
    strategy: { type: 'R', rollingUpdate: {} },
  };
  expect(applyStrategicPatch(target, { labels: { $patch: 'replace', c: '3' } })).toMatchObject({
    labels: { c: '3' },
  });
  expect(applyStrategicPatch(target, { env: [{ $patch: 'replace' }, { name: 'Y' }] })).toMatchObject({
    env: [{ name: 'Y' }],
  });
  expect(
    applyStrategicPatch(target, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }),
  ).toMatchObject({
    strategy: { type: 'Recreate' },
  });
  const retained = applyStrategicPatch(target, { strategy: { $retainKeys: ['type'], type: 'Recreate' } });
  expect(retained).not.toHaveProperty('strategy.rollingUpdate');
});

test("strategic patch: a disruption budget's selector is replaced", () => {
  const target = { spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } };
  const patch = { spec: { selector: { matchLabels: { tier: 'b' } } } };
  expect(applyStrategicPatch(target, patch)).toEqual({
    spec: { minAvailable: 1, selector: { matchLabels: { tier: 'b' } } },
  });
});
