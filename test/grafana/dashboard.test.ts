import { readFileSync } from 'node:fs';
import { metricTable } from '../../shared/process/metric-table.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const file = new URL('../../config/grafana/bamel-dashboard.json', import.meta.url);
const { panels }: Dashboard = JSON.parse(readFileSync(file, 'utf8'));
const rows: readonly { name: string; type: string; labels: readonly string[] }[] = Object.values(metricTable);
/** What a scrape shows of each metric. */
const exported = new Map(
  rows.flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map((suffix) => [`${name}${suffix}`, [...labels, 'le']])
      : [[name, labels]],
  ),
);

test.each(panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)))(
  '%s: %s asks for metrics and labels that there are',
  (_, expr) => {
    const named = expr.match(/\bbamel_\w+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
    for (const name of named)
      expect([...(exported.get(name) ?? [`${name} is not exported`])]).toEqual(
        expect.arrayContaining(labels),
      );
    expect(named.filter((name) => !exported.has(name))).toEqual([]);
  },
);

test('what an operator looks for is on it, and no panel covers another', () => {
  const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ');
  for (const { name } of [
    metricTable.machines,
    metricTable.podsWaiting,
    metricTable.decisions,
    metricTable.operations,
    metricTable.bootDuration,
    metricTable.watts,
    metricTable.energySaved,
  ])
    expect(asked).toContain(name);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});
