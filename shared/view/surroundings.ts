import type { Clock } from '../../shared/ports/clock.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { ClusterView } from '../core/cluster/cluster.ts';
import { type Use, useOf } from '../core/cluster/node-use.ts';
import { waitingPods } from '../core/decide/snapshot.ts';

/** A recent view of the cluster. Machines are shown even if the cluster does not respond. */
export interface Surroundings {
  /** Another one when what people are shown of the cluster has changed. */
  readonly version: number;
  last(): ClusterView | undefined;
  use(): Use;
  refresh(): Promise<void>;
}

const oldAfterMs = 2_000;

/** How long to wait for the cluster before what was known of it has to do. */
export interface ClusterPatience {
  readonly firstMs: number;
  readonly laterMs: number;
}

/** Without a limit: as long as the cluster's own timeout. */
export function watchSurroundings(
  cluster: Pick<Cluster, 'view'>,
  clock: Clock,
  patience?: ClusterPatience,
): Surroundings {
  let seen: { readonly view: ClusterView | undefined; readonly use: Use; readonly at: number } | undefined;
  let version = 0;
  let shown = '';
  let underWay: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    // The rest of the answer is still worth having; a banner of its own says that the cluster is away.
    const view = await cluster.view().catch(() => undefined);
    const use = useOf(view);
    const waiting = view && waitingPods(view).map((pod) => [pod.namespace, pod.name, pod.unschedulable]);
    const shows = JSON.stringify([[...use], waiting]);
    if (shows !== shown) version += 1;
    shown = shows;
    seen = { view, use, at: clock.monotonic() };
  };
  return {
    get version() {
      return version;
    },
    last: () => seen?.view,
    use: () => seen?.use ?? new Map(),
    async refresh() {
      if (seen && clock.monotonic() - seen.at < oldAfterMs) return;
      underWay ??= look().finally(() => {
        underWay = undefined;
      });
      if (!patience) return underWay;
      const enough = new AbortController();
      const tooLong = clock.sleep(seen ? patience.laterMs : patience.firstMs, enough.signal);
      await Promise.race([underWay, tooLong]);
      enough.abort();
    },
  };
}
