import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { hasColours, tableOf } from '../../cli/output/table.ts';
import { age, share } from '../../cli/output/words.ts';

const columns = [
  { title: 'NAME', of: ({ name }: { name: string }) => name },
  { title: 'STATE', of: () => 'ready', tone: () => 'good' as const },
  { title: 'WATTS', of: () => undefined, wide: true },
];
const items = [{ name: 'm-1' }, { name: 'a-long-name' }];

test('columns are aligned, nothing trails, what is not known is a dash', () => {
  expect(tableOf(columns).head(items, 0)).toBe(
    ['NAME          STATE', 'm-1           ready', 'a-long-name   ready', ''].join('\n'),
  );
  expect(tableOf(columns, { wide: true }).head([{ name: 'm-1' }], 0)).toBe(
    ['NAME   STATE   WATTS', 'm-1    ready   –', ''].join('\n'),
  );
});

test('what others wrote cannot move the cursor', () => {
  expect(tableOf(columns).rows([{ name: 'a\u001b[2Jb\nc' }], 0)).toBe('a [2Jb c   ready\n');
});

test('colours on a terminal, unless NO_COLOR is set or it has none', () => {
  const io = (isTTY: boolean, env: Record<string, string> = {}) => ({
    stdout: Object.assign(new PassThrough(), { isTTY }),
    stderr: new PassThrough(),
    env,
  });
  expect(hasColours(io(true))).toBe(true);
  expect(hasColours(io(false))).toBe(false);
  expect(hasColours(io(true, { NO_COLOR: '1' }))).toBe(false);
  expect(hasColours(io(true, { TERM: 'dumb' }))).toBe(false);
  expect(tableOf(columns, { colours: true }).rows([{ name: 'm' }], 0)).toBe(
    'm      \u001b[32mready\u001b[0m\n',
  );
});

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [121_000, '2m'],
  [3 * 3_600_000, '3h'],
  [50 * 3_600_000, '2d'],
])('%d ms ago is %s', (ms, text) => {
  expect(age(1_000_000, 1_000_000 + ms)).toBe(text);
});

test('a share of what is not known is not known', () => {
  expect(share({ cpu: 500 }, { cpu: 2_000 }, 'cpu')).toBe('25%');
  expect(share(undefined, { cpu: 2_000 }, 'cpu')).toBeUndefined();
  expect(share({ cpu: 1 }, {}, 'cpu')).toBeUndefined();
});

test('help comes before anything else, whatever else is said', async () => {
  const stdout = new PassThrough();
  expect(await runCli(['get', 'nothing', '-h'], { stdout, stderr: new PassThrough(), env: {} })).toBe(0);
  expect(String(stdout.read())).toContain('bamel get KIND');
});
