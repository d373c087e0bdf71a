import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { foldersIn, type Hierarchies, listPods } from './cgroups.ts';

/** One line of an iterator that the loader pinned: what the kernel counted for one cgroup since the program was loaded. */
export const PinnedLine = z.object({
  cgroup: z.number(),
  /** Waits for a cpu by their length: slot n holds those of 2ⁿ to 2ⁿ⁺¹ microseconds. */
  waits: z.array(z.number()).optional(),
  ifindex: z.number().optional(),
  rxBytes: z.number().optional(),
  txBytes: z.number().optional(),
  rxPackets: z.number().optional(),
  txPackets: z.number().optional(),
  retransmits: z.number().optional(),
  reclaimUs: z.number().optional(),
});
export type PinnedLine = z.output<typeof PinnedLine>;

export const pinNames = { waits: 'runqueue', network: 'network', other: 'stalls' } as const;

export interface Pinned {
  /** Why there is nothing to read, or nothing. */
  readonly problem: string | undefined;
  /** 95 % of all pods' waits for a cpu since the last time were shorter. */
  runQueueMs(): number | undefined;
  /** The same for each of the pods, where anything is known of it. */
  addWaits(pods: PressureReport['pods']): PressureReport['pods'];
}

/** Reads what the eBPF programs count. They are loaded by somebody with the right to; reading takes none. */
export function readPinned(folder: string, { unified }: Hierarchies): Pinned {
  const problem = whyNot(folder, unified);
  const nothing: Pinned = { problem, runQueueMs: () => undefined, addWaits: (pods) => pods };
  if (problem !== undefined || unified === undefined) return nothing;
  let before = new Map<number, readonly number[]>();

  /** Waits by cgroup since this was last asked. */
  function fresh(): Map<number, number[]> {
    const now = new Map(stillThere(folder).map(({ cgroup, waits = [] }) => [cgroup, waits]));
    const since = new Map(
      [...now].map(([cgroup, waits]) => {
        const known = before.get(cgroup) ?? [];
        return [cgroup, waits.map((count, slot) => Math.max(0, count - (known[slot] ?? 0)))];
      }),
    );
    before = now;
    return since;
  }

  return {
    problem: undefined,
    runQueueMs: () => p95([...fresh().values()].reduce(added, [])),
    addWaits(pods) {
      const waits = fresh();
      const paths = listPods(unified);
      return pods.map((pod) => {
        const path = paths.get(pod.uid);
        if (path === undefined) return pod;
        const waitMs = p95(
          idsOf(join(unified, path))
            .map((id) => waits.get(id) ?? [])
            .reduce(added, []),
        );
        return waitMs === undefined ? pod : { ...pod, waitMs };
      });
    },
  };
}

/** Nothing once it was unloaded: whoever did that wants the sensor to go on without. */
const stillThere = (folder: string): PinnedLine[] =>
  existsSync(join(folder, pinNames.waits)) ? readLines(folder, 'waits') : [];

/** The lines of a pinned iterator. */
export function readLines(folder: string, name: keyof typeof pinNames): PinnedLine[] {
  return readFileSync(join(folder, pinNames[name]), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => PinnedLine.parse(JSON.parse(line)));
}

/** The kernel counts for the cgroup a process is in, which is a container's: its pod is the sum. */
export const idsOf = (pod: string): number[] =>
  [pod, ...foldersIn(pod).map((name) => join(pod, name))].flatMap((path) =>
    existsSync(path) ? [statSync(path).ino] : [],
  );

function whyNot(folder: string, unified: string | undefined): string | undefined {
  if (unified === undefined) return 'there is no cgroup v2 hierarchy to tell pods apart by';
  const file = join(folder, pinNames.waits);
  if (!existsSync(file)) return `${file} is not there: run the loader (bamel-bpf load) first, as root`;
  try {
    readFileSync(file);
    return undefined;
  } catch (error) {
    return `${file} cannot be read (${(error as Error).message}): load it again`;
  }
}

const added = (a: readonly number[], b: readonly number[]): number[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, slot) => (a[slot] ?? 0) + (b[slot] ?? 0));

/** The upper end of the slot, in milliseconds. */
export function p95(waits: readonly number[]): number | undefined {
  const all = waits.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let seen = 0;
  const slot = waits.findIndex((count) => {
    seen += count;
    return seen >= 0.95 * all;
  });
  return 2 ** (slot + 1) / 1_000;
}
