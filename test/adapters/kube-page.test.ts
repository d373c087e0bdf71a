import { parsePage } from '../../shared/adapters/kubernetes/page.ts';
import { fc } from '../../tools/support/seeded.ts';

const page = (items: readonly unknown[], more: object = {}) =>
  JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7', ...more }, items });
const itemsIn = (text: string) => [...parsePage(text).items];

const managedFields = [{ manager: 'kubelet', fieldsV1: { 'f:spec': { 'k:{"name":"]}"}': {} } } }];
const pod = (name: string, more: object = {}) => ({ metadata: { name, ...more }, spec: { a: [{ b: '}' }] } });

test('items, without who wrote which field, and where the list goes on', () => {
  const text = `${page([pod('a', { managedFields }), pod('b'), pod('c', { managedFields })], { continue: 'x' })}\n`;
  expect(itemsIn(text)).toEqual([pod('a'), pod('b'), pod('c')]);
  expect(parsePage(text).metadata).toMatchObject({ resourceVersion: '7', _continue: 'x' });
  expect(parsePage(page([])).metadata).not.toHaveProperty('_continue');
  expect(itemsIn(page([]))).toEqual([]);
});

const tricky = '"},{"metadata":{"managedFields":[{}]},"spec":';
test.each([
  ['texts that look like what is between items', [pod(tricky, { labels: { [tricky]: tricky } }), pod('b')]],
  ['objects in them that look like items', [{ ...pod('a'), status: [pod('x'), pod('y')] }, pod('b')]],
  ['fields in another order', [{ spec: {}, metadata: { name: 'a' } }, pod('b')]],
  ['one of them in another order', [pod('a'), { spec: {}, metadata: { name: 'b' } }, pod('c')]],
  ['no spec behind the metadata', [{ metadata: { name: 'a' }, data: 1 }, { metadata: { name: 'b' } }]],
])('%s', (_name, items) => {
  expect(itemsIn(page(items))).toEqual(items);
});

test('whatever is in them, all of them are read as they are', () => {
  const item = fc.record({
    metadata: fc.record({ name: fc.string(), labels: fc.jsonValue() }),
    spec: fc.jsonValue(),
    status: fc.array(fc.record({ metadata: fc.jsonValue() })),
  });
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const text = page(items);
      expect(itemsIn(text)).toEqual(JSON.parse(text).items);
    }),
  );
});

test('half a page is none', () => {
  const text = page([pod('a'), pod('b')]);
  for (let length = 0; length < text.length; length += 1)
    expect(() => itemsIn(text.slice(0, length))).toThrow(SyntaxError);
});
