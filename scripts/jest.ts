// Runs Jest with what its ESM mode needs. `--real` runs test/real instead, one file at a time.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const real = args.includes('--real');
const { status } = spawnSync(
  process.execPath,
  [
    `${root}node_modules/jest/bin/jest.js`,
    ...(real ? ['--config', `${root}jest.real.config.js`, '--runInBand'] : []),
    ...args.filter((arg) => arg !== '--real'),
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
    },
  },
);
process.exit(status ?? 1);
