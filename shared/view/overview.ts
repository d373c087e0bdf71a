import { outlookOf } from '../core/decide/outlook.ts';
import { waitingPods } from '../core/decide/snapshot.ts';
import { capacityOf } from '../core/machine/lifecycle.ts';
import { decisionSummary } from './project.ts';
import type { ApiDeps } from './row.ts';
import type { OverviewView } from './shapes.ts';

/** A wall shows no more. */
const mostUpcoming = 100;

/** The figures of the header, and what comes next: read together, so that they agree. */
export async function overviewNow({ view, surroundings, now, energy }: ApiDeps): Promise<OverviewView> {
  const { wattsNow, kWhSaved } = await energy();
  const machines = view.machines();
  const cluster = surroundings.last();
  const count = (capacity: string) => machines.filter((one) => capacityOf(one) === capacity).length;
  const states: Record<string, number> = {};
  for (const { status } of machines) states[status.state] = (states[status.state] ?? 0) + 1;
  const latest = view.decisions().at(-1);
  return {
    machines: machines.length,
    states,
    ready: count('serving'),
    coming: count('coming'),
    leaving: count('leaving'),
    waiting: cluster && waitingPods(cluster).length,
    watts: wattsNow,
    kWhSaved,
    next: outlookOf({ machines, pools: view.pools(), settings: view.settings() }, now()).slice(
      0,
      mostUpcoming,
    ),
    decision: latest && summaryOf(latest),
  };
}

function summaryOf(latest: Parameters<typeof decisionSummary>[0]): OverviewView['decision'] {
  const { id, at, summary, unmet } = decisionSummary(latest);
  return { id, at, summary, unmet, limits: [...latest.limits] };
}
