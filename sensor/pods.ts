import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import { type Hierarchies, listPods } from './cgroups.ts';
import type { Meter } from './meter.ts';
import type { Pinned } from './pinned.ts';
import { type Counter, counters, type Held, type TrackedPod, trackPod } from './pod.ts';

interface Count {
  readonly at: number;
  readonly value: number;
}

/** What every pod had counted when a category began to look pressed. */
interface Mark {
  readonly at: number;
  readonly values: ReadonlyMap<string, number>;
}

interface Entry {
  readonly pod: TrackedPod;
  /** The last two; what is asked about is measured from the older one. */
  readonly counts: Record<Counter, { readonly before: Count; readonly last: Count }>;
  /** What its limits had done to it when it began to look pressed. */
  held: (Held & { readonly at: number }) | undefined;
}

interface Attribution {
  readonly pods: PressureReport['pods'];
  readonly unattributed: number;
}

/**
 * The pods that cause pressure: those that use the cpu or the network, and those that wait for memory or a
 * disk.
 */
const countedBy: Readonly<Partial<Record<PressureCategory, Counter>>> = {
  cpu: 'cpu',
  memory: 'memoryWait',
  storage: 'ioWait',
  network: 'network',
};

/** Held for this share of the time is held by its own limit. */
const heldShare = 0.1;
/** What its limits did before that is no part of what begins now. */
const forgetMs = 5_000;
/** A suspicion older than this is not what is asked about. */
const markMs = 6_000;
const mostNamed = 5;
const leastShare = 0.01;

export interface Pods {
  readonly count: number;
  /** Finds new pods and drops those that are gone. */
  look(now: number): void;
  /** Looks, and counts what all of them used; unless said, of everything. */
  sample(now: number, categories?: readonly PressureCategory[]): void;
  /** Starts counting the pods that may cause pressure, and the effect of their limits. */
  suspect(category: PressureCategory, now: number): void;
  /** `whole` is what the node used or waited in the same units, where that is known. */
  attribute(category: PressureCategory, now: number, whole?: Pick<Meter, 'counted'>): Attribution;
  close(): void;
}

type Counting = Pick<Pinned, 'traffic' | 'mark' | 'details'>;

export function trackPods(
  hierarchies: Hierarchies,
  proc: string,
  /** Where eBPF counts: it also knows what pods on the node's own network send, and more of those that press. */
  pinned?: Counting,
): Pods {
  const entries = new Map<string, Entry>();
  const marks = new Map<PressureCategory, Mark>();
  let looked = false;

  /** With either hierarchy: on some machines pods are in version 1 only, whatever else is mounted. */
  function found(): Map<string, string> {
    for (const root of [hierarchies.unified, hierarchies.cpu, hierarchies.memory]) {
      const pods = root === undefined ? undefined : listPods(root);
      if (pods && pods.size > 0) return pods;
    }
    return new Map();
  }

  function refresh(now: number): void {
    const current = found();
    const read = reader(pinned);
    for (const [uid, { pod }] of entries)
      if (!current.has(uid)) {
        pod.close();
        entries.delete(uid);
      }
    for (const [uid, path] of current) {
      if (entries.has(uid)) continue;
      const pod = trackPod(uid, path, hierarchies, proc);
      // One that came while we were looking began at zero a moment ago; of those that were there before, that is not known.
      const counts = Object.fromEntries(
        counters.map((counter) => {
          const first = { at: now - 1, value: looked ? 0 : read(pod, counter) };
          return [counter, { before: first, last: first }];
        }),
      ) as Entry['counts'];
      entries.set(uid, { pod, counts, held: undefined });
    }
    looked = true;
  }

  /** What each used or waited since it was suspected, or since the sample before the last one. */
  function measure(category: PressureCategory, now: number) {
    const counter = countedBy[category];
    const mark = marks.get(category);
    const marked = mark && now - mark.at <= markMs ? mark : undefined;
    const read = reader(pinned);
    const used = (counter ? [...entries.values()] : []).map((entry) => {
      const value = counter ? read(entry.pod, counter) : 0;
      const before = counter ? entry.counts[counter].before : { at: now, value };
      const from = marked?.values.get(entry.pod.uid) ?? before.value;
      return { entry, value, amount: Math.max(0, value - from), at: before.at };
    });
    return {
      used: used.sort((a, b) => b.amount - a.amount || (a.entry.pod.uid < b.entry.pod.uid ? -1 : 1)),
      together: used.reduce((sum, { amount }) => sum + amount, 0),
      ms: now - (marked?.at ?? Math.min(now - 1, ...used.map(({ at }) => at))),
    };
  }

  return {
    get count() {
      return entries.size;
    },
    look: refresh,
    sample(now, categories) {
      refresh(now);
      const read = reader(pinned);
      const wanted = categories?.flatMap((category) => countedBy[category] ?? []) ?? counters;
      for (const { pod, counts } of entries.values())
        for (const counter of wanted)
          counts[counter] = { before: counts[counter].last, last: { at: now, value: read(pod, counter) } };
    },
    suspect(category, now) {
      // What looks pressed again and again is counted from the first time.
      if (now - (marks.get(category)?.at ?? Number.NEGATIVE_INFINITY) < markMs / 2) return;
      refresh(now);
      pinned?.mark(category);
      const { used } = measure(category, now);
      for (const { entry } of used.slice(0, mostNamed))
        if (!entry.held || now - entry.held.at > forgetMs) entry.held = { at: now, ...entry.pod.held() };
      marks.set(category, {
        at: now,
        values: new Map(used.map(({ entry, value }) => [entry.pod.uid, value])),
      });
    },
    attribute(category, now, whole) {
      refresh(now);
      const { used, together, ms } = measure(category, now);
      const all = Math.max(together, whole?.counted(ms) ?? together);
      if (all === 0) return { pods: [], unattributed: 1 };
      const detailsOf = pinned?.details(category);
      const top = used.slice(0, mostNamed).filter(({ amount }) => amount / all >= leastShare);
      return {
        pods: top.map(({ entry, amount }) => ({
          uid: entry.pod.uid,
          share: rounded(amount / all),
          ...(isHeld(category, entry, now) && { ownLimit: true as const }),
          ...detailsOf?.(entry.pod.folder),
        })),
        unattributed: rounded(1 - together / all),
      };
    },
    close() {
      for (const { pod } of entries.values()) pod.close();
      entries.clear();
    },
  };
}

/** Reads a counter of one pod after the other; what is in one place for all of them is read once. */
function reader(pinned: Counting | undefined): (pod: TrackedPod, counter: Counter) => number {
  let traffic: ReturnType<Counting['traffic']> | undefined;
  return (pod, counter) => {
    if (counter !== 'network' || !pinned) return pod.read(counter);
    traffic ??= pinned.traffic();
    return traffic(pod.folder, pod.isOnNodesNetwork());
  };
}

/** Counts from before the first read are ignored: they may be old. */
function isHeld(category: PressureCategory, entry: Entry, now: number): boolean {
  if (category !== 'cpu' && category !== 'memory') return false;
  const current = entry.pod.held();
  entry.held ??= { at: now, ...current };
  return category === 'cpu'
    ? current.throttledUs - entry.held.throttledUs > heldShare * (now - entry.held.at) * 1000
    : current.memoryHits > entry.held.memoryHits;
}

const rounded = (share: number): number => Math.min(1, Math.max(0, Math.round(share * 1000) / 1000));
