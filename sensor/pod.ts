import { join } from 'node:path';
import type { Hierarchies } from './cgroups.ts';
import { foldersIn } from './cgroups.ts';
import { numberOf, parseNetDev, parseStall } from './numbers.ts';
import { type OpenFile, openFile } from './open-file.ts';

/** What a pod has used and waited for since it began. Microseconds, and bytes. */
export interface Counters {
  readonly cpu: number;
  readonly memoryWait: number;
  readonly ioWait: number;
  readonly network: number;
}

export const nothingYet: Counters = { cpu: 0, memoryWait: 0, ioWait: 0, network: 0 };

export const countAll = (pod: TrackedPod): Counters => ({
  cpu: pod.read('cpu'),
  memoryWait: pod.read('memoryWait'),
  ioWait: pod.read('ioWait'),
  network: pod.read('network'),
});

/** What a limit of the pod's own did to it since it began. */
export interface Held {
  /** Microseconds without a cpu for its quota. */
  readonly throttledUs: number;
  /** Times its memory limit was hit. */
  readonly memoryHits: number;
}

export interface TrackedPod {
  readonly uid: string;
  read(counter: keyof Counters): number;
  held(): Held;
  close(): void;
}

/** Opens what there is of a pod's cgroup. Which files there are depends on the hierarchies; what lacks counts as 0. */
export function trackPod(
  uid: string,
  path: string,
  { unified, cpu, cpuacct, memory }: Hierarchies,
  proc: string,
): TrackedPod {
  const at = (root: string | undefined, name: string): OpenFile | undefined =>
    root === undefined ? undefined : openFile(join(root, path, name));
  const stalls = ['memory', 'io'].map((kind) => at(unified, `${kind}.pressure`));
  const stat = at(unified, 'cpu.stat');
  const usage = unified === undefined ? at(cpuacct, 'cpuacct.usage') : undefined;
  let network: OpenFile | undefined;

  const waited = (index: number): number => parseStall(stalls[index]?.read() ?? '')?.some ?? 0;
  const used = (): number =>
    stat ? (numberOf(stat.read() ?? '', 'usage_usec') ?? 0) : Math.round(Number(usage?.read() ?? 0) / 1000);
  const bytes = (): number => {
    // The process that was asked may be gone; any other of the pod sees the same interfaces.
    const text = network?.read();
    if (text !== undefined) return parseNetDev(text);
    network?.close();
    const pid = firstProcess(join(unified ?? cpu ?? '', path));
    network = pid === undefined ? undefined : openFile(join(proc, pid, 'net/dev'));
    return parseNetDev(network?.read() ?? '');
  };
  const readers: Readonly<Record<keyof Counters, () => number>> = {
    cpu: used,
    memoryWait: () => waited(0),
    ioWait: () => waited(1),
    network: bytes,
  };
  return {
    uid,
    read: (counter) => readers[counter](),
    held: () => heldBy(path, { unified, cpu, memory }),
    close() {
      for (const file of [...stalls, stat, usage, network]) file?.close();
    },
  };
}

/** A limit may be the pod's or one of its containers'; the kernel counts only where it stands. */
function heldBy(
  path: string,
  { unified, cpu, memory }: Pick<Hierarchies, 'unified' | 'cpu' | 'memory'>,
): Held {
  const sum = (root: string | undefined, name: string, parse: (text: string) => number): number =>
    root === undefined
      ? 0
      : [path, ...foldersIn(join(root, path)).map((container) => join(path, container))].reduce(
          (total, folder) => total + parse(readOnce(join(root, folder, name))),
          0,
        );
  return {
    throttledUs:
      sum(unified, 'cpu.stat', (text) => numberOf(text, 'throttled_usec') ?? 0) +
      sum(cpu, 'cpu.stat', (text) => (numberOf(text, 'throttled_time') ?? 0) / 1000),
    memoryHits:
      sum(unified, 'memory.events', (text) => numberOf(text, 'max') ?? 0) +
      sum(memory, 'memory.failcnt', (text) => Number(text) || 0),
  };
}

function firstProcess(folder: string): string | undefined {
  for (const place of [folder, ...foldersIn(folder).map((container) => join(folder, container))]) {
    const [pid] = readOnce(join(place, 'cgroup.procs')).split('\n', 1);
    // 0 is a process of another pid namespace: the sensor needs hostPID to see it.
    if (pid && pid !== '0') return pid;
  }
  return undefined;
}

function readOnce(path: string): string {
  const file = openFile(path);
  const text = file.read() ?? '';
  file.close();
  return text;
}
