import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layers } from '../../scripts/lint/layers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the check on a tree of these files: the problems that it prints, without their number. */
function check(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-imports-'));
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/lint/imports.ts'), folder], {
      encoding: 'utf8',
    });
    const lines = stderr.split('\n').filter(Boolean);
    expect(status).toBe(lines.length > 0 ? 1 : 0);
    return lines.slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every kind of wrong import: the file that has it, and what it imports. */
const wrong: readonly (readonly [what: string, file: string, source: string])[] = [
  ['the core from a port', 'shared/core/a.ts', "import { b } from '../ports/store.ts';"],
  ['the core a type from a port', 'shared/core/a.ts', "import type { B } from '../ports/store.ts';"],
  ['the core from a schema', 'shared/core/limits/a.ts', "export { b } from '../../schema/machine.ts';"],
  ['the core a package', 'shared/core/a.ts', "import { z } from 'zod';"],
  ['the core a package of a scope', 'shared/core/a.ts', "import { a } from '@kubernetes/client-node';"],
  ['the core a Node.js module', 'shared/core/a.ts', "import { readFileSync } from 'node:fs';"],
  ['the core at run time', 'shared/core/a.ts', "export const a = () => import('node:fs');"],
  ['cron.ts another package', 'shared/core/limits/cron.ts', "import { z } from 'zod';"],
  ['a port from state', 'shared/ports/a.ts', "import type { B } from '../state/inventory.ts';"],
  ['a schema from a driver', 'shared/schema/a.ts', "import { b } from '../drivers/index.ts';"],
  ['the HTTP client from an adapter', 'shared/http/a.ts', "import { b } from '../adapters/etcd/store.ts';"],
  ['state from an adapter', 'shared/state/a.ts', "import { b } from '../adapters/etcd/store.ts';"],
  ['an adapter from a driver', 'shared/adapters/files/a.ts', "import { b } from '../../drivers/index.ts';"],
  ['an adapter from the server', 'shared/adapters/files/a.ts', "import { b } from '../../server/serve.ts';"],
  ['a driver from an adapter', 'shared/drivers/ipmi/a.ts', "import { b } from '../../adapters/etcd/url.ts';"],
  ['a driver from another driver', 'shared/drivers/ipmi/a.ts', "import { b } from '../redfish/driver.ts';"],
  ['shared from functions', 'shared/by-hand/a.ts', "import type { Deps } from '../../functions/deps.ts';"],
  ['a function from another', 'functions/drain-node/a.ts', "import { b } from '../power-action/handler.ts';"],
  ['a function from an app', 'functions/drain-node/a.ts', "import { b } from '../../apps/api/answer.ts';"],
  ['an app from another', 'apps/console/a.ts', "import { b } from '../api/answer.ts';"],
  ['the CLI from a function', 'cli/a.ts', "import { b } from '../functions/power-action/handler.ts';"],
  ['the CLI from an app', 'cli/a.ts', "import { b } from '../apps/api/answer.ts';"],
  ['the sensor from the server', 'sensor/a.ts', "import { b } from '../shared/server/serve.ts';"],
  ['the console from the store', 'console/a.tsx', "import { b } from '../shared/state/inventory.ts';"],
  ['a bench from a test', 'bench/a.ts', "import { b } from '../test/core/a.ts';"],
  ['a script from a test', 'scripts/a.ts', "import { b } from '../test/core/a.ts';"],
  ['a tool from a test', 'tools/a.ts', "import { b } from '../test/core/a.ts';"],
  ['a folder that is no layer', 'shared/misc/a.ts', "import { b } from './b.ts';"],
];

/** One tree with all of them, so that the check runs once. */
const fileOf = (file: string, index: number): string => file.replace(/\/a\.ts/, `/a-${index}.ts`);
let problems: readonly string[];

beforeAll(() => {
  problems = check(
    Object.fromEntries(wrong.map(([, file, source], index) => [fileOf(file, index), `${source}\n`])),
  );
}, 60_000);

test.each(wrong.map(([what, file], index) => [what, fileOf(file, index)] as const))(
  'lint refuses that %s is imported',
  (_, file) => {
    expect(problems.filter((problem) => problem.startsWith(`${file}: `))).toHaveLength(1);
  },
);

test('files that import each other are refused, by type too', () => {
  const files = {
    'shared/core/a.ts': "import type { B } from './b.ts';\nexport type A = B;\n",
    'shared/core/b.ts': "import { c } from './c.ts';\nexport type B = typeof c;\n",
    'shared/core/c.ts': "import type { A } from './a.ts';\nexport const c: A = 1;\n",
  };
  expect(check(files)).toEqual([
    'circle: shared/core/a.ts → shared/core/b.ts → shared/core/c.ts → shared/core/a.ts',
  ]);
});

test('what points downward passes', () => {
  const files = {
    'shared/core/a.ts': "import { b } from './limits/cron.ts';\nexport const a = b;\n",
    'shared/core/limits/cron.ts': "import { Cron } from 'croner';\nexport const b = Cron;\n",
    'shared/drivers/ipmi/a.ts': "import { b } from '../common/b.ts';\nimport { c } from './c.ts';\n",
    'functions/index.ts': "import { b } from './drain-node/handler.ts';\n",
    'test/a.ts': "import { b } from '../functions/drain-node/handler.ts';\n",
  };
  expect(check(files)).toEqual([]);
});

test('npm run lint runs it, and every layer is a folder of the tree', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(scripts.lint).toContain('scripts/lint/imports.ts');
  const { status } = spawnSync('git', ['ls-files', '--error-unmatch', ...layers.map(({ path }) => path)], {
    cwd: root,
  });
  expect(status).toBe(0);
});
