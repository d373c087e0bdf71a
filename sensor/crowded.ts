import { join } from 'node:path';
import { crowdedRules, type SensorBands } from './default-bands.ts';
import { parseCpuTimes } from './numbers.ts';
import { openFile } from './open-file.ts';
import type { Source } from './sensor.ts';
import { createSignal } from './signal.ts';

const everyMs = 100;
/** Below this threshold nothing is read: with many cpus, reading their state is expensive. */
const least = 0.3;
const allInUse = 0.95;

/**
 * Somebody waits while no cpu is idle. Three on one cpu and one on the other make half of the time, no more, and so
 * does a background that comes in bursts; but that leaves the cpus idle in between.
 */
export function crowdedSource(
  proc: string,
  { clear }: SensorBands,
  /** Total microseconds in which tasks waited for a cpu. */
  waiting: () => number | undefined,
): Source {
  const stat = openFile(join(proc, 'stat'));
  let waited: number | undefined;
  let times: ReturnType<typeof parseCpuTimes>;
  return {
    signal: createSignal('cpu', 'crowded', crowdedRules, clear),
    everyMs,
    read(elapsedMs) {
      const before = waited;
      waited = waiting();
      if (before === undefined || waited === undefined) return undefined;
      const share = (waited - before) / (elapsedMs * 1000);
      const known = times;
      times = share < least ? undefined : parseCpuTimes(stat.read() ?? '');
      if (!known || !times) return { share: 0 };
      const busy = (times.busy - known.busy) / (times.all - known.all);
      return { share: busy >= allInUse ? share : 0 };
    },
    close: () => stat.close(),
  };
}
