import type { MachineStatus } from '../core/machine/machine.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Start of a machine's state, by this process's monotonic clock if it observed the change: the writer's clock
 * may be off, and ours may be set meanwhile. A new process only knows the stored time.
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
