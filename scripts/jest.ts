// Runs Jest with what its ESM mode needs. `--all` adds the long forms (tools/support/long.ts), `--real` runs
// test/real instead, one file at a time; `--jobs` adds those that take too long for every change (*.job.test.ts).
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBinaries } from '../tools/real-stack/binaries.ts';
import { controlPlanePrograms } from '../tools/real-stack/table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const real = args.includes('--real');
const all = real || args.includes('--all');
if (real) {
  // Before Jest: a first build takes longer than any test's time-out.
  await ensureBinaries(controlPlanePrograms).catch((error: Error) => {
    if (process.env.BAMEL_REQUIRE_PROGRAMS) throw error;
    console.error(`${error.message}\nTests that need it are skipped.`);
  });
}
// Made by the first real server that a test starts.
const logs = join(tmpdir(), `bamel-test-logs-${process.pid}`);
const { status } = spawnSync(
  process.execPath,
  [
    `${root}node_modules/jest/bin/jest.js`,
    ...(real ? ['--config', `${root}jest.real.config.js`, '--runInBand'] : []),
    ...args.filter((arg) => !['--real', '--all', '--jobs'].includes(arg)),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      BAMEL_STACK_LOGS: logs,
      ...(all && { BAMEL_TEST_ALL: '1' }),
      ...(args.includes('--jobs') && { BAMEL_TEST_JOBS: '1' }),
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
    },
  },
);
if (status === 0) rmSync(logs, { recursive: true, force: true });
else if (existsSync(logs)) console.log(`logs of the real servers: ${logs}`);
process.exit(status ?? 1);
