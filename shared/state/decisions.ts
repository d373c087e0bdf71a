import type { ClusterStatistics } from '../core/cluster/statistics.ts';
import type { DecisionRecord } from '../core/decide/decision.ts';
import type { Entry, Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** How many decisions and ended operations are kept. */
const maxKept = 200;
const pruneEvery = 20;

interface Stats {
  readonly evaluations: number;
  readonly decisions: number;
  readonly lastEvaluation: { readonly at: number; readonly decision: string; readonly summary: string };
  /** As of the last evaluation. */
  readonly cluster?: ClusterStatistics | undefined;
}

type RecordDecision = (
  id: string,
  record: DecisionRecord,
  acted: boolean,
  lease: Lease,
  cluster?: ClusterStatistics,
) => Promise<void>;

/**
 * Reads the statistics now, under the caller's lease, and returns a function that stores a decision and
 * counts it. A decision without intents and with the summary of the one before is only counted, so that quiet
 * periods do not evict useful records.
 */
export async function openDecisions(store: Store): Promise<RecordDecision> {
  const entry = await store.get(keys.global('stats'));
  return (...decision) => recordDecision(store, entry, ...decision);
}

async function recordDecision(
  store: Store,
  entry: Entry | undefined,
  ...[id, record, acted, lease, cluster]: Parameters<RecordDecision>
): Promise<void> {
  const key = keys.global('stats');
  const before = entry && decode<Stats>(key, entry.value);
  const news = acted || before?.lastEvaluation.summary !== record.summary;
  const stats: Stats = {
    evaluations: (before?.evaluations ?? 0) + 1,
    decisions: (before?.decisions ?? 0) + (news ? 1 : 0),
    lastEvaluation: {
      at: record.at,
      decision: news ? id : (before?.lastEvaluation.decision ?? id),
      summary: record.summary,
    },
    cluster,
  };
  const { committed } = await store.commit(
    [lease.fence, { key, revision: entry?.revision ?? 0 }],
    [
      { put: key, value: encode(stats) },
      ...(news ? [{ put: keys.decision(id), value: encode(record) }] : []),
    ],
  );
  if (committed && news && stats.decisions % pruneEvery === 0) await prune(store, lease);
}

/** Ids sort by time. Operations that have not ended are never pruned. */
async function prune(store: Store, lease: Lease): Promise<void> {
  const decisions = (await store.list(keys.decisions)).entries;
  const ended = (await store.list(keys.operations)).entries.filter(
    ({ key, value }) => decode<{ end?: string }>(key, value).end !== undefined,
  );
  const old = [...decisions.slice(0, -maxKept), ...ended.slice(0, -maxKept)].slice(0, 100);
  if (old.length > 0)
    await store.commit(
      [lease.fence],
      old.map(({ key }) => ({ delete: key })),
    );
}
