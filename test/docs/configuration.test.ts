import { readSettings } from '../../shared/process/settings.ts';
import { readText, tableRows } from './markdown.ts';

const page = readText('docs/configuration.md');

test('every setting is there, in the words of --help', () => {
  const read = readSettings(['--help'], {});
  const help = 'help' in read ? read.help : '';
  const told = help
    .split('\n')
    .filter((line) => line.startsWith('  --'))
    .map((line) => line.trim().split(/ {2,}/));
  const rows = [...tableRows(page, 'Settings').values()].filter(([flag]) => flag?.startsWith('`--'));
  expect(rows).toEqual(told.map(([flag, env, meaning]) => [`\`${flag}\``, `\`${env}\``, meaning]));
});

test('every field of the file and every option of every driver is described', async () => {
  const rows = [...readText('docs/fields.md').matchAll(/^\| `([^`]+)` \|[^|]*\| (.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(200);
  expect(rows.filter(([, , meaning]) => meaning === '').map(([, field]) => field)).toEqual([]);
});
