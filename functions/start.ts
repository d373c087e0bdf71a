import { startupSnapshot } from 'node:v8';

/** Runs a process. Where a snapshot is made of it, with all that is loaded and compiled: once that is started. */
export function start(main: () => Promise<void>): void {
  if (startupSnapshot.isBuildingSnapshot()) startupSnapshot.setDeserializeMainFunction(main);
  else void main();
}
