import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { podName } from '../../shared/core/decide/snapshot.ts';
import type { PressureReport } from '../../shared/schema/pressure.ts';
import { recordPressure } from '../../shared/state/pressure.ts';
import type { Deps } from '../deps.ts';

/** Reports of sensors that wait for the next evaluation. */
export interface PressureQueue {
  /** Returns why the report is refused, or undefined. */
  add(report: PressureReport): Promise<string | undefined>;
  /** Stores the queued reports. False: there is no reason to evaluate. */
  flush(): Promise<boolean>;
}

/**
 * Reports are stored and evaluated together. A report that repeats a band is no reason to evaluate: the next
 * tick does.
 */
export function createPressureQueue(
  deps: Pick<Deps, 'inventory' | 'cluster' | 'clock' | 'log' | 'metrics'>,
): PressureQueue {
  const { inventory, cluster, clock, log, metrics } = deps;
  /** By node and category: only the newest report matters. */
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
        const text = describe(report, view);
        log.info({ step: 'pressure', node, category, from, to, level, text }, 'pressure changed');
        await cluster.recordEvent(
          { kind: 'Node', name: node },
          to === 'calm' ? 'Normal' : 'Warning',
          to === 'calm' ? 'PressureOver' : 'PressureRising',
          text,
        );
      }
      return true;
    },
  };
}

/** Limit for storms: the store and the decision record have all of them. */
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
