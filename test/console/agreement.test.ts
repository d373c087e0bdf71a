import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { actions } from '../../console/actions.ts';
import { stateOrder } from '../../console/racks.ts';
import { knownPolicies } from '../../console/scores.ts';
import { changesUnannounced, changesWith } from '../../console/state/kinds.ts';
import { ranges as consoleRanges } from '../../console/state/range.ts';
import { functionTable } from '../../functions/index.ts';
import { states } from '../../shared/core/machine/lifecycle.ts';
import { policyNames } from '../../shared/core/scale-up/policy-names.ts';
import { rows } from '../../shared/view/rows.ts';
import { ranges } from '../../shared/view/trend.ts';

const folder = fileURLToPath(new URL('../../console/', import.meta.url));
const read = (file: string): string => readFileSync(`${folder}${file}`, 'utf8');
const sources = globSync('**/*.{ts,tsx}', { cwd: folder });

test.each(states)('there is a colour for %s', (state) => {
  expect(read('style/states.css')).toContain(`[data-state="${state}"]`);
});

test('every state has its place among the others', () => {
  expect(stateOrder.toSorted()).toEqual([...states].sort());
});

test.each(actions.map((action) => [action.title, action] as const))(
  '%s is something a function takes',
  (_, action) => {
    const called = functionTable.find(({ definition }) => `/${definition.name}` === action.path);
    const wish = { ...action.body('mini-1'), ...action.option?.adds };
    expect(called?.definition.input.safeParse(wish).error).toBeUndefined();
    expect(called).toBeDefined();
  },
);

/** Every path that a component reads. */
const asked = [
  ...new Set(
    sources
      .flatMap((file) => [...read(file).matchAll(/useApi<\w+>\(\s*['`]([^'`?]+)/g)])
      .map(([, path = '']) => path.replace(/\$\{.*\}/, '{name}')),
  ),
];

test('every path that the console asks for is answered', () => {
  const known = [...rows.map(({ path }) => path), '/api/decisions/latest'];
  expect(asked.length).toBeGreaterThan(8);
  expect(asked.filter((path) => !known.includes(path))).toEqual([]);
});

test.each(asked)('%s is asked for again when it changes', (path) => {
  const kinds = ['machines', 'pools', 'operations', 'decisions', 'cluster', 'about'];
  const announced = kinds.some((kind) => changesWith(path, [kind]));
  expect(announced || changesUnannounced(path)).toBe(true);
  expect([changesWith(path, undefined), changesWith(path, ['others'])]).toEqual([true, false]);
});

test('text of others is only ever shown as text, and nothing is asked of other hosts', () => {
  expect(sources.length).toBeGreaterThan(30);
  for (const file of sources)
    expect([file, /innerHTML|insertAdjacent|document\.write|https?:\/\/|eval\(/.test(read(file))]).toEqual([
      file,
      false,
    ]);
});

test('every policy has a unit of its own', () => {
  expect(knownPolicies.toSorted()).toEqual([...policyNames].sort());
});

test('every range of the plots is one that the API keeps', () => {
  expect(consoleRanges).toEqual(Object.keys(ranges));
});
