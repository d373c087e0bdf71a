// Loaded into a process before its program: on SIGUSR2 it tells what it holds once all that is dead is collected.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  process.stdout.write(`${JSON.stringify({ atRest: process.memoryUsage() })}\n`);
});
