import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandNames } from '../../cli/cli.ts';
import { describeWith, findProgram } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';
import { runBamel, runProgram } from './run-bamel.ts';

const folder = newFolder();

const scriptFor = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runBamel(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

describeWith(['bash'], 'completion in bash', () => {
  const complete = async (...words: readonly string[]): Promise<string[]> => {
    const file = join(folder, 'bamel.bash');
    const script = `source ${file}; bamel() { echo machine/m-1; echo machine/m-2; }
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bamel; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await runProgram('bash', ['-c', script, 'bash', 'bamel', ...words]);
    return stdout.trim().split(' ');
  };

  test('commands, kinds, outputs, options and the names of machines', async () => {
    await writeFile(join(folder, 'bamel.bash'), await scriptFor('bash'));
    expect(await complete('un')).toEqual(['uncordon']);
    expect(await complete('')).toEqual(expect.arrayContaining(commandNames));
    expect(await complete('get', 'po')).toEqual(['pools', 'pods']);
    expect(await complete('get', 'machines', '-o', 'j')).toEqual(['json']);
    expect(await complete('get', '--wa')).toEqual(['--watch']);
    expect(await complete('drain', 'm-')).toEqual(['m-1', 'm-2']);
  });
});

test.each(['zsh', 'fish'])('completion for %s names every command', async (shell) => {
  const script = await scriptFor(shell);
  for (const name of commandNames) expect(script).toContain(name);
});

describeWith(['zsh'], 'completion in zsh', () => {
  test('is a script that zsh reads', async () => {
    const file = join(folder, 'bamel.zsh');
    await writeFile(file, await scriptFor('zsh'));
    expect(await runProgram('zsh', ['-n', file])).toMatchObject({ code: 0, stderr: '' });
  });
});

describeWith(['fish'], 'completion in fish', () => {
  test('offers what begins like that', async () => {
    const file = join(folder, 'bamel.fish');
    await writeFile(file, await scriptFor('fish'));
    const { stdout } = await runProgram('fish', [
      '--no-config',
      '-c',
      `source ${file}; complete -C 'bamel desc'`,
    ]);
    expect(stdout).toMatch(/^describe\b/);
  });
});

describeWith(['kubectl'], 'a plugin of kubectl', () => {
  test('kubectl bamel is bamel', async () => {
    await symlink(
      fileURLToPath(new URL('../../cli/bamel.js', import.meta.url)),
      join(folder, 'kubectl-bamel'),
    );
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
    const kubectl = findProgram('kubectl') ?? 'kubectl';
    const { stdout, code } = await runProgram(kubectl, ['bamel', 'version'], env);
    expect([code, stdout]).toEqual([0, (await runBamel(['version'])).stdout]);
    const wrong = await runProgram(kubectl, ['bamel', 'get', 'machnes'], env);
    expect(wrong.stderr).toContain('Did you mean machines?');
    expect(wrong.code).toBe(2);
  });
});
