import type { MachineStatus } from '../core/machine/machine.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Since when a machine has been in its state, by this process's own monotonic clock where it saw the state
 * begin: whoever wrote it down may have a clock that is off, and ours may be set while we wait. A process that
 * has just started only knows what is written.
 */
export function createStateClock(clock: Clock): (name: string, status: MachineStatus) => number {
  const seen = new Map<string, { readonly written: number; readonly at: number | undefined }>();
  return (name, { stateSince: written }) => {
    const before = seen.get(name);
    const sight = before?.written === written ? before : { written, at: before && clock.monotonic() };
    seen.set(name, sight);
    return sight.at === undefined ? written : clock.now() - (clock.monotonic() - sight.at);
  };
}
