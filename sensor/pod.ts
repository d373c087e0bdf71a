import { statSync } from 'node:fs';
import { join } from 'node:path';
import { foldersIn, type Hierarchies } from './cgroups.ts';
import { numberOf, parseNetDev, parseStall } from './numbers.ts';
import { type OpenFile, openFile } from './open-file.ts';

/** Totals of a pod's use and waits: microseconds, and bytes for the network. */
export const counters = ['cpu', 'memoryWait', 'ioWait', 'network'] as const;
export type Counter = (typeof counters)[number];

/** Totals of throttling by the pod's own limits. */
export interface Held {
  /** Microseconds without a cpu for its quota. */
  readonly throttledUs: number;
  /** Times its memory limit was hit. */
  readonly memoryHits: number;
}

export interface TrackedPod {
  readonly uid: string;
  /** Its cgroup. */
  readonly folder: string;
  read(counter: Counter): number;
  /** It has no network of its own, but the node's (`hostNetwork`). */
  isOnNodesNetwork(): boolean;
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
  const folder = join(unified ?? cpu ?? '', path);
  let network: OpenFile | undefined;
  let isOnNodesNetwork = false;

  const waited = (index: number): number => parseStall(stalls[index]?.read() ?? '')?.some ?? 0;
  const used = (): number =>
    stat ? (numberOf(stat.read() ?? '', 'usage_usec') ?? 0) : Math.round(Number(usage?.read() ?? 0) / 1000);
  const interfaces = (): string | undefined => {
    // One that is just being made may not have entered its own network yet: it is asked again.
    const text = isOnNodesNetwork ? undefined : network?.read();
    if (text !== undefined) return text;
    // The process that was asked may be gone; any other of the pod sees the same interfaces.
    network?.close();
    const pid = firstProcess(folder);
    const file = pid === undefined ? undefined : join(proc, pid, 'net/dev');
    network = file === undefined ? undefined : openFile(file);
    isOnNodesNetwork = file !== undefined && isSame(file, join(proc, '1/net/dev'));
    return network?.read();
  };
  // The node's own counters are everybody's.
  const bytes = (): number => {
    const text = interfaces() ?? '';
    return isOnNodesNetwork ? 0 : parseNetDev(text);
  };
  const readers: Readonly<Record<Counter, () => number>> = {
    cpu: used,
    memoryWait: () => waited(0),
    ioWait: () => waited(1),
    network: bytes,
  };
  return {
    uid,
    folder,
    isOnNodesNetwork() {
      interfaces();
      return isOnNodesNetwork;
    },
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

/** The kernel has one such file per network, whatever process it is seen by. */
function isSame(file: string, other: string): boolean {
  const [one, two] = [file, other].map((path) => statSync(path, { throwIfNoEntry: false })?.ino);
  return one !== undefined && one === two;
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
