import { stringify } from 'yaml';
import type { KindName } from '../../../shared/ports/resources.ts';
import { group, resourceKinds } from '../../../shared/schema/resource-kinds.ts';
import { definitionOf } from './definition.ts';

/** config/crd: one file per custom resource. */
export async function definitionFiles(): Promise<{ file: string; text: () => string }[]> {
  return Promise.all(
    (Object.keys(resourceKinds) as KindName[]).map(async (name) => {
      const definition = stringify(await definitionOf(name), {
        lineWidth: 0,
        aliasDuplicateObjects: false,
        // kubectl reads YAML 1.1, where on and off are booleans.
        compat: 'yaml-1.1',
      });
      const text = `# Generated from shared/schema by npm run generate.\n${definition}`;
      return { file: `config/crd/${group}_${resourceKinds[name].plural}.yaml`, text: () => text };
    }),
  );
}
