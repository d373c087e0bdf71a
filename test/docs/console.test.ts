import { actions } from '../../console/actions.ts';
import { scenarios } from '../../simulator/demo/scenario.ts';
import { readText, tableRows } from './markdown.ts';

const page = readText('docs/console.md');

test('the page names every button and what it asks', () => {
  const rows = tableRows(page, 'Buttons');
  expect([...rows.keys()].slice(1)).toEqual(actions.map(({ title }) => title));
  for (const { title, path, body } of actions) {
    const asks = rows.get(title)?.[1] ?? '';
    expect(asks).toContain(`POST ${path}`);
    for (const [name, value] of Object.entries(body('it')))
      if (name !== 'machine' && name !== 'by') expect(asks).toContain(`"${name}": ${JSON.stringify(value)}`);
  }
});

test('the page names every scenario in its own words', () => {
  const rows = [...tableRows(page, 'Demo').values()].slice(1);
  expect(rows).toEqual(Object.entries(scenarios).map(([name, { says }]) => [`\`${name}\``, says]));
});
