import type { Pod } from '../../core/cluster/cluster.ts';
import type { DecisionRecord } from '../../core/decide/decision.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';

/** The same Event for a pod is repeated after this long; a new one is recorded at once. */
const againAfterMs = 600_000;
/**
 * Limit per evaluation: thousands of pods must not cause thousands of requests. The next evaluations record
 * the others.
 */
const mostAtOnce = 50;

/** Tells pods that no machine can run them, and why, as Kubernetes Events on them. A warm instance remembers whom. */
export function createUnmetReporter(
  cluster: Cluster,
  clock: Clock,
): (record: Pick<DecisionRecord, 'unmet'>) => Promise<void> {
  let reported = new Map<string, { readonly text: string; readonly at: number }>();
  return async ({ unmet }) => {
    if (unmet.length === 0) {
      reported = new Map();
      return;
    }
    const { pods } = await cluster.view();
    const waiting = pods.filter((pod) => pod.unschedulable !== undefined && !pod.node);
    const byName = new Map(waiting.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    const now = clock.now();
    const before = reported;
    reported = new Map();
    let sent = 0;
    for (const { pod: name, why } of unmet) {
      const example = byName.get(name);
      if (!example) continue;
      for (const { namespace, name, uid } of alike(example, waiting)) {
        const text = `bamel: ${why}`;
        const last = before.get(uid);
        const isDue = last?.text !== text || now - last.at >= againAfterMs;
        if (!isDue || sent >= mostAtOnce) {
          if (last) reported.set(uid, last);
          continue;
        }
        sent += 1;
        reported.set(uid, { text, at: now });
        await cluster.recordEvent({ kind: 'Pod', namespace, name, uid }, 'Warning', 'NoMachineFits', text);
      }
    }
  };
}

/** Pods of one controller wait for the same reason. */
const alike = (example: Pod, waiting: readonly Pod[]): readonly Pod[] =>
  example.owner === undefined ? [example] : waiting.filter(({ owner }) => owner?.uid === example.owner?.uid);
