import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { foldersIn, type Hierarchies } from './cgroups.ts';

/** One line of an iterator that the loader pinned: what the kernel counted for one cgroup since the program was loaded. */
export interface PinnedLine {
  readonly cgroup: number;
  /** Waits for a cpu by their length: slot n holds those of 2ⁿ to 2ⁿ⁺¹ microseconds. */
  readonly waits?: readonly number[];
  readonly ifindex?: number;
  readonly rxBytes?: number;
  readonly txBytes?: number;
  readonly rxPackets?: number;
  readonly txPackets?: number;
  readonly retransmits?: number;
  readonly reclaimUs?: number;
}

export const pinNames = { waits: 'runqueue', network: 'network', other: 'stalls' } as const;

type Details = Pick<PressureReport['pods'][number], 'waitMs' | 'retransmits' | 'reclaimMs'>;

export interface Pinned {
  /** Why there is nothing to read, or nothing. */
  readonly problem: string | undefined;
  /** 95 % of all pods' waits for a cpu since the last time were shorter. */
  runQueueMs(): number | undefined;
  /** Bytes so far, read at once for all pods; of one in the node's own network only what passed the node's interfaces. */
  traffic(): (pod: string, inNodesNetwork: boolean) => number;
  /** The next report of a category counts from now on. */
  mark(category: PressureCategory): void;
  /** What else is known of a pod, since it was marked or last told. */
  details(category: PressureCategory): (pod: string) => Details;
}

/** The interface that a pod speaks to itself by; it has this number in every network. */
const loopback = 1;

/** Which iterator knows more about who presses. */
const sourceOf: Readonly<Partial<Record<PressureCategory, keyof typeof pinNames>>> = {
  cpu: 'waits',
  network: 'other',
  memory: 'other',
};

type Lines = ReadonlyMap<number, PinnedLine>;

/** Reads the counters of eBPF programs. Loading them requires privileges; reading does not. */
export function readPinned(
  folder: string,
  { unified }: Hierarchies,
  /** Numbers of the node's own interfaces. */
  interfaces: readonly number[] = [],
): Pinned {
  const read = (source: keyof typeof pinNames | undefined): Lines =>
    new Map(source ? readLines(folder, source).map((line) => [line.cgroup, line]) : []);
  const marks = new Map<PressureCategory, Lines>();
  let asked: Lines = new Map();
  return {
    problem: whyNot(folder, unified),
    runQueueMs() {
      const before = asked;
      asked = read('waits');
      return p95([...asked.values()].map((line) => grown(line, before.get(line.cgroup)).waits));
    },
    traffic() {
      const byCgroup = Map.groupBy(readLines(folder, 'network'), ({ cgroup }) => cgroup);
      return (pod, inNodesNetwork) =>
        idsOf(pod)
          .flatMap((id) => byCgroup.get(id) ?? [])
          .filter(({ ifindex = loopback }) =>
            inNodesNetwork ? interfaces.includes(ifindex) : ifindex !== loopback,
          )
          .reduce((sum, { rxBytes = 0, txBytes = 0 }) => sum + rxBytes + txBytes, 0);
    },
    mark: (category) => void marks.set(category, read(sourceOf[category])),
    details(category) {
      const before = marks.get(category);
      const now = read(sourceOf[category]);
      marks.set(category, now);
      return (pod) => {
        const parts = idsOf(pod).map((id) => grown(now.get(id), before?.get(id)));
        const sum = (name: 'retransmits' | 'reclaimUs'): number =>
          parts.reduce((total, part) => total + part[name], 0);
        if (category === 'network') return { retransmits: sum('retransmits') };
        if (category === 'memory') return { reclaimMs: Math.round(sum('reclaimUs') / 1_000) };
        const waitMs = p95(parts.map(({ waits }) => waits));
        return waitMs === undefined ? {} : { waitMs };
      };
    },
  };
}

/** Counters only grow, unless their cgroup made room for another one and came back. */
function grown(now: PinnedLine | undefined, before: PinnedLine | undefined) {
  const more = (to = 0, from = 0): number => Math.max(0, to - from);
  return {
    waits: (now?.waits ?? []).map((count, slot) => more(count, before?.waits?.[slot])),
    retransmits: more(now?.retransmits, before?.retransmits),
    reclaimUs: more(now?.reclaimUs, before?.reclaimUs),
  };
}

/** The lines of a pinned iterator; none once it was unloaded: the sensor continues without it. */
export function readLines(folder: string, name: keyof typeof pinNames): PinnedLine[] {
  const file = join(folder, pinNames[name]);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as PinnedLine);
}

/** The kernel counts for the cgroup a process is in, which is a container's: its pod is the sum. */
export const idsOf = (pod: string): number[] =>
  [pod, ...foldersIn(pod).map((name) => join(pod, name))].flatMap(
    (path) => statSync(path, { throwIfNoEntry: false })?.ino ?? [],
  );

function whyNot(folder: string, unified: string | undefined): string | undefined {
  if (unified === undefined) return 'there is no cgroup v2 hierarchy to identify pods by';
  const file = join(folder, pinNames.waits);
  if (!existsSync(file)) return `${file} is not there: run the loader (bamel-bpf load) first, as root`;
  try {
    readFileSync(file);
    return undefined;
  } catch (error) {
    return `${file} cannot be read (${(error as Error).message}): load it again`;
  }
}

/** Of all these together: the upper end of the slot, in milliseconds. */
export function p95(all: readonly (readonly number[])[]): number | undefined {
  const slots: number[] = [];
  for (const waits of all)
    for (const [slot, count] of waits.entries()) slots[slot] = (slots[slot] ?? 0) + count;
  const total = slots.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let seen = 0;
  const slot = slots.findIndex((count) => {
    seen += count;
    return seen >= 0.95 * total;
  });
  return 2 ** (slot + 1) / 1_000;
}
