import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { PressureReport } from '../shared/schema/pressure.ts';
import type { PodCgroup } from '../tools/real-stack/sensor/sensor-pod.ts';
import { stop } from '../tools/real-stack/sensor/sensor-pod.ts';
import type { SensorProcess } from '../tools/real-stack/sensor/sensor-process.ts';

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What makes each category short, as stress-ng does it. */
export const loads = {
  cpu: ['--cpu', String(2 * navigator.hardwareConcurrency)],
  memory: ['--vm', '4', '--vm-bytes', '256M', '--vm-method', 'zero-one'],
  storage: ['--hdd', '6', '--hdd-opts', 'direct,sync', '--hdd-write-size', '4k', '--hdd-bytes', '64M'],
} as const satisfies Partial<Record<PressureReport['category'], readonly string[]>>;

export interface Reaction {
  /** From the start of the load to the event at its receiver; undefined: none within half a minute, or it never was calm. */
  readonly ms: number | undefined;
  readonly top: boolean;
  /** What a scrape every 15 s would have taken to see more than 80 % of the cpus in use. */
  readonly scrapeMs: number | undefined;
}

const patienceMs = 30_000;
const scrapeMs = 15_000;

export interface Load {
  readonly category: PressureReport['category'];
  readonly pod: PodCgroup;
  /** Ends when it is killed. */
  start(): ChildProcess;
}

export const stress = (pod: PodCgroup, category: keyof typeof loads): Load => ({
  category,
  pod,
  start: () => pod.run('stress-ng', ['-q', ...loads[category], '--temp-path', tmpdir(), '--timeout', '60']),
});

/** Loads the pod and waits for what the sensor says of it. Scrapes come at their own time, as they do. */
export async function react(
  sensor: SensorProcess,
  { category, pod, start }: Load,
  /** Also wait for what a scrape would see. */
  scraping = false,
): Promise<Reaction> {
  // What is pressed already is only told again: that is no reaction to this load.
  const isCalm = () =>
    (sensor.told.findLast(({ report }) => report.category === category)?.report.to ?? 'calm') === 'calm';
  for (let waited = 0; !isCalm(); waited += 100) {
    if (waited > patienceMs) return { ms: undefined, top: false, scrapeMs: undefined };
    await sleep(100);
  }
  const phase = Math.random() * scrapeMs;
  const began = Date.now();
  const load = start();
  let scraped: number | undefined;
  let last = cpuTimes();
  let next = began + phase;
  const first = () =>
    sensor.told.find(
      ({ report, at }) => at >= began && report.category === category && report.sign === 'rising',
    );
  while (Date.now() - began < patienceMs && (first() === undefined || (scraping && scraped === undefined))) {
    await sleep(20);
    if (Date.now() < next) continue;
    const now = cpuTimes();
    if ((now.busy - last.busy) / (now.all - last.all) > 0.8) scraped ??= Date.now() - began;
    last = now;
    next += scrapeMs;
  }
  await stop(load);
  const told = first();
  return {
    ms: told && told.at - began,
    top: told?.report.pods[0]?.uid === pod.uid,
    scrapeMs: scraped,
  };
}

export function cpuTimes(): { readonly busy: number; readonly all: number } {
  const times = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const all = times.reduce((sum, time) => sum + time, 0);
  return { all, busy: all - (times[3] ?? 0) - (times[4] ?? 0) };
}

/** Cpu time of a process so far, in milliseconds, and what it holds of memory. */
export function costOf(pid: number): {
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly ownMegabytes: number;
} {
  // Nanoseconds on a cpu, of each thread: the ticks that are counted of a process are longer than what it takes.
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]),
  );
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return {
    cpuMs: threads.reduce((sum, ns) => sum + ns, 0) / 1e6,
    megabytes: field('VmRSS'),
    ownMegabytes: field('RssAnon'),
  };
}
