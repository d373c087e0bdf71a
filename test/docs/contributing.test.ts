import { globSync } from 'node:fs';
import { readText, root, tableRows } from './markdown.ts';

const rows = tableRows(readText('CONTRIBUTING.md'), 'Where to change what');
const changes = [...rows].filter(([change]) => !/^-+$/.test(change));

/** Paths among the code spans of a row; commands and names are no paths. */
const pathsOf = (cells: readonly string[]): string[] =>
  [
    ...cells
      .slice(1)
      .join(' ')
      .matchAll(/`([^`]+)`/g),
  ]
    .map(([, code = '']) => code)
    .filter((code) => /^[\w./<>-]+$/.test(code) && (code.includes('/') || code.endsWith('.md')));

test('at least fifteen kinds of change are listed', () => {
  expect(changes.length).toBeGreaterThanOrEqual(15);
});

test.each(changes)('%s: its files exist', (_change, cells) => {
  const paths = pathsOf(cells);
  expect(paths.length).toBeGreaterThan(0);
  expect(
    paths.filter((path) => globSync(path.replaceAll('<name>', '*'), { cwd: root }).length === 0),
  ).toEqual([]);
});
