import { readSettings } from '../../shared/process/settings.ts';
import { readText } from './markdown.ts';

test('every setting of --help is on the settings page', () => {
  const read = readSettings(['--help'], {});
  const help = 'help' in read ? read.help : '';
  const variables = [...help.matchAll(/^ {2}--\S+(?: [A-Z]+)? +([A-Z_]+) /gm)].map(([, name = '']) => name);
  expect(variables.length).toBeGreaterThan(30);
  const [, section = ''] = readText('docs/settings.md').split(/^## /m);
  const documented = [...section.matchAll(/^\| `--[^`]+` \| `([A-Z_]+)` \| .+ \|$/gm)].map(
    ([, name]) => name,
  );
  expect(documented).toEqual(variables);
});

test('every field of the file and every option of every driver is described', async () => {
  const rows = [...readText('docs/fields.md').matchAll(/^\| `([^`]+)` \|[^|]*\| (.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(200);
  expect(rows.filter(([, , meaning]) => meaning === '').map(([, field]) => field)).toEqual([]);
});
