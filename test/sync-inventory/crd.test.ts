import { startLabHarness } from '../contract/lab-harness.ts';
import { definitions } from './definitions.ts';
import { definitionsContract } from './definitions-suite.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const undescribed = (schema: Schema, path: string): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    const missing = here === '.metadata' || /\w{3}/.test(field.description ?? '') ? [] : [here];
    return [
      ...missing,
      ...undescribed(field, here),
      ...(field.items ? undescribed(field.items, `${here}[]`) : []),
    ];
  });

test.each(definitions().map((one) => [one.metadata.name, one.spec] as const))(
  '%s describes every field',
  (_, spec) => {
    const [version] = spec.versions as { schema: { openAPIV3Schema: Schema } }[];
    expect(version && undescribed(version.schema.openAPIV3Schema, '')).toEqual([]);
  },
);

definitionsContract('the lab', startLabHarness);
