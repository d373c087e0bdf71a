import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const left = /^(\.git|node_modules|dist|coverage|release)$/;

/** A copy of the project as a repository of its own with one commit. Its node_modules is a link to ours. */
export function projectCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-release-'));
  cpSync(root, folder, {
    recursive: true,
    filter: (source) => !left.test(relative(root, source)),
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  git('init', '--quiet');
  // .gitignore names the folder, not a link.
  appendFileSync(join(folder, '.git/info/exclude'), 'node_modules\n');
  const commit = (): void => {
    git('add', '--all');
    git('commit', '--quiet', '--message', 'A copy');
  };
  commit();
  return {
    folder,
    git,
    commit,
    read: (file: string): string => readFileSync(join(folder, file), 'utf8'),
  };
}
