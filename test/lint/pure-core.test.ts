import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from '../support/cleanup.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
let diagnostics: Map<string, string[]>;

/** Each a file of its own in shared/core, and what must be said about it. */
const impure: [what: string, source: string, rule: RegExp][] = [
  ['require', "export const x = () => require('node:fs');", /noRestrictedGlobals/],
  ['the time', 'export const x = () => Date.now();', /noRestrictedGlobals/],
  ['a new date', 'export const x = () => new Date();', /noRestrictedGlobals/],
  ['the monotonic time', 'export const x = () => performance.now();', /noRestrictedGlobals/],
  ['chance', 'export const x = () => Math.random();', /plugin/],
  ['chance by another name', 'export const x = Math.random;', /plugin/],
  ['chance of a better kind', 'export const x = () => crypto.randomUUID();', /noRestrictedGlobals/],
  ['the network', "export const x = () => fetch('http://example.com');", /noRestrictedGlobals/],
  ['the environment', 'export const x = () => process.env.HOME;', /noRestrictedGlobals/],
  ['a timer', 'export const x = (f: () => void) => setTimeout(f, 1);', /noRestrictedGlobals/],
  ['a timer that repeats', 'export const x = (f: () => void) => setInterval(f, 1);', /noRestrictedGlobals/],
  ['output', "export const x = () => console.log('x');", /noRestrictedGlobals/],
  ['the way around all that', 'export const x = () => globalThis.Date.now();', /noRestrictedGlobals/],
];
/** Each a file of its own in a folder of shared/core. */
const impureBelow: typeof impure = [
  ['the time', 'export const x = () => Date.now();', /noRestrictedGlobals/],
];
/** The one file that may make dates of the time that it is given. */
const cron = "import { Cron } from 'croner';\nexport const x = (now: number) => [Cron, new Date(now)];\n";
const impureCron: [source: string, rule: RegExp][] = [
  ['export const x = () => Date.now();', /plugin/],
  ['export const x = () => new Date();', /plugin/],
  ['export const x = () => performance.now();', /noRestrictedGlobals/],
];
const pureBelow =
  "import { byText } from '../text.ts';\nimport { y } from './y.ts';\nexport const x = () => byText(y, 'b');\n";
const pure = "import { byText } from './text.ts';\nexport const x = (a: string) => byText(a, 'b');\n";

beforeAll(() => {
  // The project's own rules, on a copy: a file with a mistake in shared/core would fail other people's lint.
  folder = newFolder();
  const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...config, vcs: { enabled: false } }));
  cpSync(join(root, 'scripts/lint'), join(folder, 'scripts/lint'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'shared/core/simulate'), { recursive: true });
  mkdirSync(join(folder, 'shared/core/limits'));
  mkdirSync(join(folder, 'shared/adapters'));
  for (const [index, [, source]] of impure.entries()) {
    writeFileSync(join(folder, `shared/core/impure-${index}.ts`), `${source}\n`);
    writeFileSync(join(folder, `shared/adapters/fine-${index}.ts`), `${source}\n`);
  }
  for (const [index, [, source]] of impureBelow.entries())
    writeFileSync(join(folder, `shared/core/simulate/impure-${index}.ts`), `${source}\n`);
  writeFileSync(join(folder, 'shared/core/pure.ts'), pure);
  writeFileSync(join(folder, 'shared/core/simulate/pure.ts'), pureBelow);
  diagnostics = lint();
}, 60_000);

/** The rules that each file breaks. */
function lint(): Map<string, string[]> {
  const { stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/biome'),
    ['lint', '--reporter=json', '--max-diagnostics=none', 'shared'],
    { cwd: folder, encoding: 'utf8' },
  );
  const report = stdout.slice(stdout.indexOf('{'));
  if (!report) throw new Error(`biome reported nothing: ${stderr}`);
  const found = new Map<string, string[]>();
  for (const { category, location } of JSON.parse(report).diagnostics) {
    const path = typeof location.path === 'string' ? location.path : location.path.file;
    found.set(path, [...(found.get(path) ?? []), category]);
  }
  return found;
}

test.each(impure.map(([what, , rule], index) => [what, index, rule] as const))(
  'the core has no %s',
  (_, index, rule) => {
    const found = diagnostics.get(`shared/core/impure-${index}.ts`) ?? [];
    expect(found.filter((category) => rule.test(category))).not.toEqual([]);
  },
);

test.each(impureBelow.map(([what, , rule], index) => [what, index, rule] as const))(
  'nor have its folders: %s',
  (_, index, rule) => {
    const found = diagnostics.get(`shared/core/simulate/impure-${index}.ts`) ?? [];
    expect(found.filter((category) => rule.test(category))).not.toEqual([]);
  },
);

test('what only uses the core passes', () => {
  expect(diagnostics.get('shared/core/pure.ts')).toBeUndefined();
  expect(diagnostics.get('shared/core/simulate/pure.ts')).toBeUndefined();
});

test('cron.ts may make dates, and does not read the clock', () => {
  const file = join(folder, 'shared/core/limits/cron.ts');
  writeFileSync(file, cron);
  expect(lint().get('shared/core/limits/cron.ts')).toBeUndefined();
  for (const [source, rule] of impureCron) {
    writeFileSync(file, `${source}\n`);
    expect(lint().get('shared/core/limits/cron.ts')).toContainEqual(expect.stringMatching(rule));
  }
});

test('elsewhere these rules do not apply', () => {
  const elsewhere = [...diagnostics].filter(([path]) => path.startsWith('shared/adapters/'));
  const rules = elsewhere.flatMap(([, categories]) => categories);
  expect(rules.filter((category) => /noRestricted|plugin/.test(category))).toEqual([]);
});

test('nothing in the core switches a rule off', () => {
  const core = join(root, 'shared/core');
  for (const file of readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.ts'),
  ))
    expect(readFileSync(join(core, file), 'utf8')).not.toContain('biome-ignore');
});
