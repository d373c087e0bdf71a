import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The folder of the npm package that a bundled file belongs to, `node_modules/a/node_modules/@b/c`. */
const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

const purl = ({ name, version }: Package): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const component = (one: Package) => ({
  type: 'library',
  'bom-ref': purl(one),
  name: one.name,
  version: one.version,
  purl: purl(one),
  ...(one.license && { licenses: [{ license: { id: one.license } }] }),
});

/** CycloneDX: the packages whose code is in the bundles, and no others. */
export function sbomOf(root: string, metafiles: readonly Metafile[]): string {
  const read = (folder: string): Package =>
    JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs: used }) => Object.keys(used)),
  );
  const folders = inputs.flatMap((file) => packageFolder.exec(file)?.[0] ?? []);
  const components = new Map(
    [...new Set(folders)].map((folder) => component(read(folder))).map((one) => [one['bom-ref'], one]),
  );
  const { name, version } = read('.');
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { type: 'application', name, version } },
      components: [...components].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
    },
    null,
    2,
  )}\n`;
}
