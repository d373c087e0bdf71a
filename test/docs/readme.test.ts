import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Writable } from 'node:stream';
import { parse } from 'yaml';
import { commandNames, runCli } from '../../cli/cli.ts';
import { functionTable } from '../../functions/index.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { ConfigFile } from '../../shared/schema/config.ts';
import { parseConfig } from '../../shared/schema/config-file.ts';
import { healthRoutes } from '../../shared/server/health-routes.ts';
import { driverOf } from '../drivers/harness.ts';
import { anchors, codeBlocks, localLinks, pages, readText, root, tableRows } from './markdown.ts';

/** Without variables before it. */
const withoutEnvironment = (line: string): string => line.replace(/^(?:\w+=\S+ )+(?=bamel )/, '');

const shellLines = pages.flatMap((page) =>
  codeBlocks(readText(page))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n').map((line) => ({ page, line: withoutEnvironment(line) }))),
);

test('there are pages and commands to check', () => {
  expect(pages).toEqual(
    expect.arrayContaining(['CONTRIBUTING.md', 'README.md', 'docs/architecture.md', 'docs/lifecycle.md']),
  );
  expect(shellLines.length).toBeGreaterThan(10);
});

test.each(pages)('%s: links lead somewhere', (page) => {
  const broken = localLinks(readText(page)).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path ? normalize(join(dirname(page), path)) : page;
    if (!existsSync(`${root}${target}`)) return true;
    return anchor !== undefined && !anchors(readText(target)).has(anchor);
  });
  expect(broken).toEqual([]);
});

test.each(pages)('%s: npm commands are scripts of the package, and what they run is there', (page) => {
  const named = [...readText(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
    ([, script, short]) => script ?? short ?? '',
  );
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const missing = named.filter((name) => {
    const [, file] = /^node (\S+)/.exec(scripts[name] ?? '') ?? [];
    return scripts[name] === undefined || (file !== undefined && !existsSync(`${root}${file}`));
  });
  expect(missing).toEqual([]);
});

describe('shell blocks', () => {
  const metrics = createMetrics();
  const open = healthRoutes({ metrics }, new AbortController().signal).map(({ path }) => path);
  const curls = shellLines.filter(({ line }) => line.startsWith('curl ') && line.includes('localhost'));

  test.each(curls.map(({ page, line }) => [line, page]))('%s (%s)', (line) => {
    const path = /localhost:8080(\/\S*)/.exec(line)?.[1] ?? '';
    const body = / -d '([^']*)'/.exec(line)?.[1];
    if (body === undefined) {
      expect(open).toContain(path);
      return;
    }
    const called = functionTable.find(({ definition }) => `/${definition.name}` === path);
    expect(called?.definition.input.safeParse(JSON.parse(body)).error).toBeUndefined();
    expect(called?.definition.name).toBe(path.slice(1));
  });

  const starts = shellLines.filter(({ line }) => line.startsWith('npm start -- '));
  test.each(starts.map(({ page, line }) => [line, page]))('%s (%s)', (line) => {
    const read = readSettings(line.split(' ').slice(3), {});
    expect(read).toHaveProperty('settings.store', expect.stringMatching(/^embedded:./));
  });

  const commands = shellLines.filter(({ line }) => line.startsWith('bamel '));
  test.each(commands.map(({ page, line }) => [line, page]))('%s (%s)', async (line) => {
    const [, name = '', ...args] = line.split(' ');
    let help = '';
    const stream = new Writable({
      write(chunk, _encoding, done) {
        help += chunk;
        done();
      },
    });
    expect(await runCli([name, '--help'], { stdout: stream, stderr: stream, env: {} })).toBe(0);
    const flags = args.filter((arg) => arg.startsWith('-'));
    expect(help.match(/(?<![\w-])--?[\w-]+/g)).toEqual(expect.arrayContaining(flags));
  });

  test.each(pages)('%s: bamel has the commands that are named in it', (page) => {
    const named = [...readText(page).matchAll(/`bamel ([a-z][a-z-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !commandNames.includes(name))).toEqual([]);
  });

  test('one page says how to run bamel in a checkout; all others write bamel', () => {
    const spelled = pages.filter((page) => /\bnp(?:x|m run) bamel\b/.test(readText(page)));
    expect(spelled).toEqual(['docs/cli.md']);
  });

  test('all three kinds are in the docs', () => {
    expect([curls.length, starts.length, commands.length].every((count) => count > 0)).toBe(true);
  });
});

describe('YAML', () => {
  const blocks = pages.flatMap((page) =>
    codeBlocks(readText(page))
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => ({ page, text })),
  );
  const configs = [
    ...blocks.filter(({ text }) => text.startsWith('schemaVersion:')),
    ...['bamel', 'remote-consumer', 'remote-provider'].map((name) => {
      const page = `config/samples/${name}.yaml`;
      return { page, text: readText(page) };
    }),
  ];

  test('every block can be read, and one of them is a config in the README', () => {
    expect(blocks.map(({ text }) => typeof parse(text))).toEqual(blocks.map(() => 'object'));
    expect(configs.map(({ page }) => page)).toContain('README.md');
  });

  test.each(configs.map(({ page, text }) => [page, text] as const))(
    'the config in %s is accepted, by the drivers too',
    async (page, text) => {
      const { machines } = ConfigFile.parse(parseConfig(text, page));
      const drivers = await Promise.all(machines.map((machine) => driverOf(machine)));
      expect(drivers).toHaveLength(machines.length);
    },
  );
});

test('the README says of every function what its table says', () => {
  const rows = tableRows(readText('README.md'), 'How it works');
  expect([...rows.values()].slice(1)).toEqual(
    functionTable.map(({ definition: { name, does } }) => [`\`${name}\``, does]),
  );
});

test('the README is short', () => {
  expect(readText('README.md').split('\n').length).toBeLessThanOrEqual(130);
});
