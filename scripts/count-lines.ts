// Lines and files of code per folder: `node scripts/count-lines.ts [DEPTH]`, and before and after when given a
// revision: `node scripts/count-lines.ts 2 v0.1.0`. Counts what Git tracks, in the working tree.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Count {
  readonly files: number;
  readonly lines: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const code = /\.(ts|tsx|js|mjs|c|h|go|css)$/;
const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 });
const listed = (text: string): string[] => text.split('\n').filter((path) => code.test(path));
const linesOf = (text: string): number => text.split('\n').length - 1;

const filesNow = (): Map<string, number> =>
  new Map(listed(git('ls-files')).map((path) => [path, linesOf(readFileSync(`${root}${path}`, 'utf8'))]));

function filesAt(revision: string): Map<string, number> {
  const empty = git('hash-object', '-t', 'tree', '/dev/null').trim();
  const rows = git('diff', '--numstat', '--no-renames', empty, revision).split('\n');
  return new Map(
    rows
      .map((row) => row.split('\t'))
      .filter(([, , path = '']) => code.test(path))
      .map(([lines, , path = '']) => [path, Number(lines)]),
  );
}

function perFolder(files: ReadonlyMap<string, number>, depth: number): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (const [path, lines] of files) {
    const folders = path.split('/').slice(0, -1).slice(0, depth);
    for (const name of ['all', folders.join('/') || '.']) {
      const before = counts.get(name) ?? { files: 0, lines: 0 };
      counts.set(name, { files: before.files + 1, lines: before.lines + lines });
    }
  }
  return counts;
}

const [depth = '1', revision] = process.argv.slice(2);
const after = perFolder(filesNow(), Number(depth));
const before = revision ? perFolder(filesAt(revision), Number(depth)) : undefined;
const folders = [...new Set([...after.keys(), ...(before?.keys() ?? [])])].sort();
const none: Count = { files: 0, lines: 0 };
const cells = (given: Count): string => `${given.lines}`.padStart(8) + `${given.files}`.padStart(7);
console.log(`${'folder'.padEnd(32)}   lines  files${before ? `  before  files  change` : ''}`);
for (const folder of folders) {
  const now = after.get(folder) ?? none;
  const then = before?.get(folder) ?? none;
  const change = now.lines - then.lines;
  console.log(
    folder.padEnd(32) +
      cells(now) +
      (before ? cells(then) + `${change > 0 ? '+' : ''}${change}`.padStart(8) : ''),
  );
}
