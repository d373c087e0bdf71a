import { existsSync, globSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { readText, root } from '../docs/markdown.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

const files = globSync('.github/workflows/*.yml', { cwd: root }).sort();
const steps = (file: string): Step[] =>
  Object.values((parse(readText(file)) as Workflow).jobs).flatMap((job) => job.steps);
const shell = (file: string): string =>
  steps(file)
    .map(({ run }) => run ?? '')
    .join('\n');

test('one workflow runs everything, one builds a release', () => {
  expect(files).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml']);
  expect(shell('.github/workflows/ci.yml')).toContain('.ci/run');
});

test.each(files)('%s: actions are pinned', (file) => {
  const actions = steps(file).flatMap(({ uses }) => uses ?? []);
  expect(actions.length).toBeGreaterThan(0);
  expect(actions.filter((action) => !/@(v\d+\.\d+\.\d+|[0-9a-f]{40})$/.test(action))).toEqual([]);
});

test.each(files)('%s: the npm scripts that it runs exist', (file) => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const named = [...shell(file).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

/** What a build writes. */
const made = /^(dist|release)\b/;

test.each(files)('%s: the files and folders that it names exist', (file) => {
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name.replaceAll('.', '\\.'));
  const paths = [
    ...readText(file).matchAll(new RegExp(`(?<![\\w./-])(?:${folders.join('|')})/[\\w./*-]+`, 'g')),
  ];
  const named = paths.map(([path]) => path).filter((path) => !made.test(path));
  const missing = named.filter((path) => globSync(path, { cwd: root }).length === 0);
  expect(missing).toEqual([]);
});

test('a release builds every image there is', () => {
  expect(shell('.github/workflows/release.yml')).toContain('make image sensor-images\n');
  const built = [...readText('Makefile').matchAll(/build -f (\S+) /g)].map(([, file]) => file);
  expect(built.sort()).toEqual(globSync('images/*.Dockerfile', { cwd: root }).sort());
});

test('issue templates are forms', () => {
  for (const file of globSync('.github/ISSUE_TEMPLATE/{bug,feature}.yml', { cwd: root }))
    expect(parse(readText(file))).toMatchObject({ name: expect.any(String), body: expect.any(Array) });
});

test('CODEOWNERS names paths that exist', () => {
  const paths = readText('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((line) => line.split(/\s+/)[0]?.slice(1) ?? '');
  expect(paths.length).toBeGreaterThan(3);
  expect(paths.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
});

test('renovate knows every package that it groups', () => {
  const { packageRules } = JSON.parse(readText('renovate.json')) as {
    packageRules: { matchPackageNames?: string[] }[];
  };
  const lock = JSON.parse(readText('package-lock.json')) as { packages: Record<string, object> };
  const packages = [...Object.keys(lock.packages).map((path) => path.replace('node_modules/', '')), 'node'];
  const unknown = packageRules
    .flatMap(({ matchPackageNames = [] }) => matchPackageNames)
    .filter((name) => {
      const pattern = /^\/(.*)\/$/.exec(name)?.[1];
      return !packages.some((one) => (pattern ? new RegExp(pattern).test(one) : one === name));
    });
  expect(unknown).toEqual([]);
});
