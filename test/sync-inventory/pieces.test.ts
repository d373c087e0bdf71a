import { z } from 'zod';
import { lastDecision } from '../../functions/sync-inventory/autoscaler-status.ts';
import { quantities } from '../../functions/sync-inventory/quantities.ts';
import { structuralOf } from '../../scripts/generate/crds/structural.ts';
import { mergePatchOf } from '../../shared/adapters/kubernetes/merge-patch.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { fromQuantities } from '../../shared/core/cluster/resources.ts';
import { type LabelSelector, selects } from '../../shared/schema/selector.ts';
import { fc } from '../../tools/support/seeded.ts';

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7386, as the API server applies it. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  return result;
}

const fields = fc.letrec<{ tree: Fields; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.integer(), { maxLength: 2 }),
    tie('tree'),
  ),
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('leaf'), { maxKeys: 3 }),
})).tree;

test('the patch makes of what is there what is wanted, and there is none where that is the same', () => {
  fc.assert(
    fc.property(fields, fields, (before, after) => {
      const patch = mergePatchOf(before, after);
      expect(patch === undefined ? before : merged(before, patch)).toEqual(after);
      expect(mergePatchOf(after, structuredClone(after))).toBeUndefined();
    }),
  );
});

test.each<[string, LabelSelector | undefined, boolean]>([
  ['nothing', undefined, true],
  ['an empty one', {}, true],
  ['its labels', { matchLabels: { site: 'home', tier: 'a' } }, true],
  ['another value', { matchLabels: { site: 'lab' } }, false],
  ['In', { matchExpressions: [{ key: 'site', operator: 'In', values: ['lab', 'home'] }] }, true],
  ['In, without the label', { matchExpressions: [{ key: 'rack', operator: 'In', values: ['1'] }] }, false],
  ['NotIn', { matchExpressions: [{ key: 'site', operator: 'NotIn', values: ['home'] }] }, false],
  [
    'NotIn, without the label',
    { matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['1'] }] },
    true,
  ],
  ['Exists', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [
    'all together',
    { matchLabels: { site: 'home' }, matchExpressions: [{ key: 'rack', operator: 'Exists' }] },
    false,
  ],
])('a selector with %s', (_, selector, holds) => {
  expect(selects(selector, { site: 'home', tier: 'a' })).toBe(holds);
});

test('amounts are written as Kubernetes reads them, exactly', () => {
  const amounts = { cpu: 3500, memory: 48 * 2 ** 30, 'ephemeral-storage': 1000, 'nvidia.com/gpu': 2 };
  const text = quantities(amounts);
  expect(text).toEqual({ cpu: '3500m', memory: '48Gi', 'ephemeral-storage': '1000', 'nvidia.com/gpu': '2' });
  expect(fromQuantities(text)).toEqual(amounts);
});

describe('what a schema becomes', () => {
  const cases: readonly (readonly [string, z.ZodType, object])[] = [
    ['a whole number', z.int().min(1), { type: 'integer', minimum: 1 }],
    ['more than a bound', z.number().positive(), { type: 'number', minimum: 0, exclusiveMinimum: true }],
    [
      'a text or a number',
      z.union([z.number(), z.string()]),
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['one of several', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['exactly one', z.literal('a'), { type: 'string', enum: ['a'] }],
    [
      'one literal or another',
      z.union([z.literal('a'), z.literal('b')]),
      { type: 'string', enum: ['a', 'b'] },
    ],
    ['a pattern with a flag', z.string().regex(/^a$/i), { type: 'string', pattern: '(?i:^a$)' }],
    ['a map', z.record(z.string(), z.string()), { type: 'object', additionalProperties: { type: 'string' } }],
    [
      'anything',
      z.record(z.string(), z.unknown()),
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['or nothing', z.string().nullable(), { type: 'string', nullable: true }],
    [
      'fields, some with defaults',
      z.strictObject({ a: z.string(), b: z.int().default(3), c: z.boolean().optional() }),
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer', default: 3 }, c: { type: 'boolean' } },
        required: ['a'],
      },
    ],
    [
      'one shape or another',
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('x'), a: z.string() }),
        z.strictObject({ kind: z.literal('y'), b: z.string() }),
      ]),
      {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['x', 'y'] },
          a: { type: 'string' },
          b: { type: 'string' },
        },
        required: ['kind'],
      },
    ],
  ];
  test.each(cases)('%s', (_, schema, wanted) => {
    expect(structuralOf(schema)).toEqual(wanted);
  });
});

test('pods that wait count for the pools that could serve them; those that nobody judged, for all', async () => {
  const store = await openStore('embedded:');
  expect((await lastDecision(store)).unmetOf('small')).toBe(0);
  const put = (key: string, value: object) =>
    store.commit([], [{ put: `/baremetal/${key}`, value: JSON.stringify({ v: 1, ...value }) }]);
  await put('global/stats', { lastEvaluation: { at: 1, decision: 'd-1', summary: 'nothing' } });
  await put('decisions/d-1', {
    at: 1,
    unmet: [
      { pod: 'a/x', pods: 3, why: '', pools: ['large'] },
      { pod: 'a/y', pods: 5, why: '', pools: [] },
      { pod: 'a/z', pods: 7, why: '' },
    ],
  });
  const last = await lastDecision(store);
  expect([last.unmetPods, last.unmetOf('small'), last.unmetOf('large')]).toEqual([15, 7, 10]);
  await store.close();
});
