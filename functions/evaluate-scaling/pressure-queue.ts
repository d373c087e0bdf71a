import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { podName } from '../../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../../shared/schema/pressure.ts';
import { recordPressure } from '../../shared/state/pressure.ts';
import type { Deps } from '../deps.ts';

/** Where what sensors tell waits for the evaluation that it is looked at with. */
export interface PressureQueue {
  /** Why it is not taken, or nothing. */
  add(report: PressureReport): Promise<string | undefined>;
  /** Writes down what was handed in. False: there is no reason to evaluate. */
  flush(): Promise<boolean>;
}

/**
 * However many tell something, it is written down and looked at together. That a band goes on is no reason to look:
 * a tick comes anyway.
 */
export function createPressureQueue(
  deps: Pick<Deps, 'inventory' | 'cluster' | 'clock' | 'log' | 'metrics'>,
): PressureQueue {
  const { inventory, cluster, clock, log, metrics } = deps;
  /** By node and category: of several only the newest matters. */
  const queued = new Map<string, PressureReport>();
  return {
    async add(report) {
      const { nodes } = await cluster.view();
      if (!nodes.some(({ name }) => name === report.node)) {
        metrics?.pressureReports.inc({ outcome: 'unknown-node' });
        return `there is no node ${report.node}: set NODE_NAME of the sensor to its spec.nodeName`;
      }
      const key = `${report.node} ${report.category}`;
      if ((queued.get(key)?.sequence ?? 0) < report.sequence) queued.set(key, report);
      return undefined;
    },
    async flush() {
      const reports = [...queued.values()];
      queued.clear();
      if (reports.length === 0) return false;
      const { news, old } = await recordPressure(inventory.store, reports, clock.now());
      metrics?.pressureReports.inc({ outcome: 'taken' }, reports.length - old);
      metrics?.pressureReports.inc({ outcome: 'old' }, old);
      if (news.length === 0) return false;
      const view = await cluster.view();
      for (const report of news.slice(0, maxReported)) {
        const { node, category, from, to, level } = report;
        const story = describe(report, view);
        log.info({ step: 'pressure', node, category, from, to, level, story }, 'pressure changed');
        await cluster.tell(
          { kind: 'Node', name: node },
          to === 'calm' ? 'Normal' : 'Warning',
          to === 'calm' ? 'PressureOver' : 'PressureRising',
          story,
        );
      }
      return true;
    },
  };
}

/** Of a storm: what is told is also in the store and in the record of the decision. */
const maxReported = 20;

function describe(
  { node, category, sign, share, windowMs, pods, unattributed }: PressureReport,
  view: ClusterView,
): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const named = pods.map((one) => {
    const pod = view.pods.find(({ uid }) => uid === one.uid);
    const limit = one.ownLimit ? ', held by its own limit' : '';
    return `${pod ? podName(pod) : `pod ${one.uid}`} (${percent(one.share)}${limit})`;
  });
  const who = sign === 'falling' || named.length === 0 ? '' : `; from ${named.join(', ')}`;
  const others =
    sign === 'rising' && unattributed >= 0.1 ? `; ${percent(unattributed)} from outside of pods` : '';
  return `${category} pressure on ${node} is ${sign}: ${percent(share)} of ${windowMs} ms${who}${others}`;
}
