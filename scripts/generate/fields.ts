import { z } from 'zod';
import { defaultTimings } from '../../shared/core/settings.ts';
import { loadDriver } from '../../shared/drivers/index.ts';
import { ConfigFile } from '../../shared/schema/config.ts';
import { driverNames } from '../../shared/schema/driver-names.ts';
import { formatDuration } from '../../shared/schema/duration.ts';

interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const jsonOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;

interface Row {
  readonly field: string;
  readonly default: string;
  readonly meaning: string;
}

/** Every field below a schema, in the order people read it. */
function rowsOf(schema: Schema, path = ''): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path ? `${path}.${name}` : name;
    const { items } = field;
    // Options of another driver are told where that driver is.
    const inside = path && isDriver(name) ? [] : [field, ...(field.anyOf ?? [])];
    return [
      {
        field: here,
        default: defaultOf(here, field, schema.required?.includes(name) ?? false),
        meaning: [field.description ?? '', choices(field)].filter(Boolean).join('. '),
      },
      ...inside.flatMap((one) => rowsOf(one, here)),
      ...(items ? rowsOf(items, `${here}[]`) : []),
    ];
  });
}

const isDriver = (name: string): boolean => (driverNames as readonly string[]).includes(name);

const choices = ({ enum: values }: Schema): string =>
  values ? `One of ${values.map((value) => `\`${String(value)}\``).join(', ')}` : '';

const timings: Readonly<Record<string, number>> = { ...defaultTimings };

function defaultOf(path: string, field: Schema, required: boolean): string {
  // The schema leaves these out: what is not given is filled in from the core's table.
  const timing = timings[`${/^autoscaler\.timings\.(\w+)$/.exec(path)?.[1]}Ms`];
  if (timing !== undefined) return `\`${formatDuration(timing)}\``;
  if (required) return 'required';
  if (field.default === undefined) return '–';
  const text = typeof field.default === 'string' ? field.default : JSON.stringify(field.default);
  return text === '{}' && field.properties ? '' : `\`${text}\``;
}

const table = (rows: readonly Row[]): string =>
  [
    '| field | default | meaning |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| \`${row.field}\` | ${row.default} | ${row.meaning.replaceAll('|', '\\|')} |`),
  ].join('\n');

const sections: Readonly<Record<string, RegExp>> = {
  autoscaler: /^autoscaler(?!\.timings\.)/,
  timings: /^autoscaler\.timings\./,
  pools: /^pools/,
  machines: /^machines/,
};

/** docs/fields.md: every field of the file and of the custom resources, and every option of every driver. */
export async function fieldsPage(): Promise<string> {
  const rows = rowsOf(jsonOf(ConfigFile));
  const drivers = await Promise.all(
    driverNames.map(async (name) => {
      const schema = jsonOf((await loadDriver(name)).options);
      const about = schema.description ? `${schema.description}\n\n` : '';
      return `### ${name}\n\n${about}${table(rowsOf(schema))}`;
    }),
  );
  return `<!-- Generated from the schemas by npm run generate. -->
# Fields

Every field of the [configuration file](configuration.md) and, without \`name\`, of the [custom resources](custom-resources.md); then every option of every driver, which belongs into the machine's section of that name. Durations are \`500ms\`, \`90s\`, \`15m\`, \`1h30m\` or \`2d\`, amounts are Kubernetes quantities (\`8\`, \`500m\`, \`32Gi\`), shares are \`30%\`.

${Object.entries(sections)
  .map(([heading, pattern]) => `## ${heading}\n\n${table(rows.filter(({ field }) => pattern.test(field)))}`)
  .join('\n\n')}

## Drivers

${drivers.join('\n\n')}
`;
}
