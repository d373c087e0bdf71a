import type { PressureBand } from '../core/decide/signals/pressure-bands.ts';
import type { PressureCategory, PressureReading } from '../core/decide/snapshot.ts';
import type { Entry, Store } from '../ports/store.ts';
import type { PressureReport } from '../schema/pressure.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** Readings that are not repeated for this long expire. Sensors repeat every 10 s. */
const pressureExpiryMs = 60_000;

/** A node without reports for this long is deleted. */
const nodeExpiryMs = 24 * 3_600_000;

interface StoredReading extends Omit<PressureReading, 'node'> {
  readonly band: PressureBand;
  readonly at: number;
}

/** The value under a node's key. */
interface NodePressure {
  /** Sequence number of the last accepted report. */
  readonly sequence: number;
  readonly readings: Readonly<Partial<Record<PressureCategory, StoredReading>>>;
}

export interface Recorded {
  /** Reports that changed a band, or renewed an expired reading. */
  readonly news: readonly PressureReport[];
  /** Number of reports older than the stored one. */
  readonly old: number;
}

/** Limit of keys in one commit. */
const atOnce = 50;
const maxTries = 5;

/** Records reports of sensors. A report that is not newer than the last one of its node changes nothing. */
export async function recordPressure(
  store: Store,
  reports: readonly PressureReport[],
  now: number,
): Promise<Recorded> {
  const byNode = Map.groupBy(reports, ({ node }) => node);
  const nodes = [...byNode.keys()].sort();
  const news: PressureReport[] = [];
  let old = 0;
  for (let from = 0; from < nodes.length; from += atOnce) {
    const some = nodes.slice(from, from + atOnce);
    for (let tries = 1; ; tries += 1) {
      const entries = await Promise.all(some.map((node) => store.get(keys.pressure(node))));
      const merged = some.map((node, index) => merge(entries[index], byNode.get(node) ?? [], now));
      const { committed } = await store.commit(
        some.map((node, index) => ({ key: keys.pressure(node), revision: entries[index]?.revision ?? 0 })),
        some.map((node, index) => ({ put: keys.pressure(node), value: encode(merged[index]?.value ?? {}) })),
      );
      // Another process may be writing about the same nodes.
      if (!committed && tries < maxTries) continue;
      news.push(...merged.flatMap((one) => one.news));
      old += merged.reduce((sum, one) => sum + one.old, 0);
      if (entries.includes(undefined)) await pruneNodes(store, now);
      break;
    }
  }
  return { news, old };
}

/** Applies reports in order of their sequence numbers. */
function merge(entry: Entry | undefined, reports: readonly PressureReport[], now: number) {
  const known = entry ? decode<NodePressure>(entry.key, entry.value) : { sequence: 0, readings: {} };
  let { sequence } = known;
  const readings: Partial<Record<PressureCategory, StoredReading>> = { ...known.readings };
  const news: PressureReport[] = [];
  let old = 0;
  for (const report of reports.toSorted((a, b) => a.sequence - b.sequence)) {
    if (report.sequence <= sequence) {
      old += 1;
      continue;
    }
    sequence = report.sequence;
    const before = readings[report.category];
    const { category, level, sign, to: band, pods, ratePerSecond } = report;
    const isNews = isFresh(before, now) ? before?.band !== band : band !== 'calm';
    if (isNews) news.push(report);
    readings[category] = { category, level, sign, band, pods, ratePerMinute: ratePerSecond * 60, at: now };
  }
  return { value: { sequence, readings } satisfies NodePressure, news, old };
}

const isFresh = (reading: StoredReading | undefined, now: number): boolean =>
  reading !== undefined && now - reading.at <= pressureExpiryMs;

/** The current readings of all nodes, without expired ones. */
export async function readPressure(store: Store, now: number): Promise<PressureReading[]> {
  const { entries } = await store.list(keys.pressures);
  return entries.flatMap(({ key, value }) =>
    Object.values(decode<NodePressure>(key, value).readings)
      .filter((held) => isFresh(held, now))
      .map(({ category, level, sign, ratePerMinute, pods }) => ({
        node: key.slice(keys.pressures.length),
        category,
        level,
        sign,
        ratePerMinute,
        pods,
      })),
  );
}

/** Deletes expired nodes. Runs when a node is new, which is when others may have been removed. */
async function pruneNodes(store: Store, now: number): Promise<void> {
  const { entries } = await store.list(keys.pressures);
  const gone = entries.filter(({ key, value }) =>
    Object.values(decode<NodePressure>(key, value).readings).every(({ at }) => now - at > nodeExpiryMs),
  );
  for (const { key, revision } of gone) await store.commit([{ key, revision }], [{ delete: key }]);
}
