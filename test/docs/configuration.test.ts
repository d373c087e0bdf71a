import { z } from 'zod';
import { defaultTimings } from '../../shared/core/settings.ts';
import { drivers } from '../../shared/drivers/index.ts';
import { formatDuration } from '../../shared/runtime/duration.ts';
import { readSettings } from '../../shared/runtime/settings.ts';
import { ConfigFile } from '../../shared/schema/config-file.ts';
import { readText, tableRows } from './markdown.ts';

const page = readText('docs/configuration.md');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly default?: unknown;
}

/** Every field there is, with what stands in the column for its default. */
function fields(schema: Schema, path = ''): [string, string][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): [string, string][] => {
    const here = path ? `${path}.${name}` : name;
    const timing = /^autoscaler\.timings\.(.+)$/.exec(here)?.[1];
    return [
      [here, timing ? timingDefault(timing) : defaultText(field, schema.required?.includes(name) ?? false)],
      ...fields(field, here),
      ...(field.items ? fields(field.items, `${here}[]`) : []),
    ];
  });
}

function defaultText(field: Schema, required: boolean): string {
  if (required) return 'required';
  if (field.default !== undefined)
    return `\`${typeof field.default === 'string' ? field.default : JSON.stringify(field.default)}\``;
  return '–';
}

const timings: Readonly<Record<string, number>> = { ...defaultTimings };

/** The schema leaves these out: what is not given is filled in from the core's table. */
const timingDefault = (name: string): string => `\`${formatDuration(timings[`${name}Ms`] ?? Number.NaN)}\``;

test('every field of the file is there with its default, and no other', () => {
  const schema = z.toJSONSchema(ConfigFile, { io: 'input', unrepresentable: 'any' }) as Schema;
  const documented = ['The file', 'autoscaler', 'timings', 'pools', 'machines'].flatMap((heading) =>
    [...tableRows(page, heading)].filter(([name]) => !/^-+$|^field$/.test(name)),
  );
  const written = documented.map(([name, [, value]]) => `${name}: ${value}`);
  expect(written.sort()).toEqual(
    fields(schema)
      .map(([name, value]) => `${name}: ${value}`)
      .sort(),
  );
});

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

test('every driver is named', () => {
  const [, , meaning = ''] = tableRows(page, 'machines').get('machines[].powerInterface') ?? [];
  for (const name of Object.keys(drivers)) expect(meaning).toContain(`\`${name}\``);
});
