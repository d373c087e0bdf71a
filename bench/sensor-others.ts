import { readFileSync } from 'node:fs';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { cpuTimes } from './sensor-load.ts';

const everyMs = 100;
/** Longer than any rule that is on trial. */
const windowMs = 2_500;
/** So much more than the background, at some moment, is somebody else. */
const much = { cpu: 0.4, disk: 0.25 };

interface Moment {
  readonly at: number;
  readonly cpu: ReturnType<typeof cpuTimes>;
  /** Milliseconds in which the busiest disk did something. */
  readonly diskMs: number;
}

/** Watches what the whole machine does, so that what is told of others' work can be told from what is told of nothing. */
export function watchOthers(background: number) {
  const moments: Moment[] = [];
  const timer = setInterval(() => {
    moments.push({ at: Date.now(), cpu: cpuTimes(), diskMs: diskMs() });
  }, everyMs);
  /** Whether cpus or disks were in use by more than the background just before. */
  const atWork = ({ category }: PressureReport, at: number): boolean =>
    moments.some((to, index) => {
      // Five tenths of a second are long enough to count ticks of 10 ms.
      const from = moments[index - 5];
      if (!from || to.at > at || to.at < at - windowMs) return false;
      const busy = (to.cpu.busy - from.cpu.busy) / Math.max(1, to.cpu.all - from.cpu.all);
      return category === 'cpu'
        ? busy - background >= much.cpu
        : (to.diskMs - from.diskMs) / (to.at - from.at) >= much.disk;
    });
  return { atWork, stop: () => clearInterval(timer) };
}

function diskMs(): number {
  const times = readFileSync('/proc/diskstats', 'utf8')
    .split('\n')
    .map((line) => Number(line.trim().split(/\s+/)[12] ?? 0));
  return Math.max(0, ...times.filter(Number.isFinite));
}
