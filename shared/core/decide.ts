import type { Candidate, Decision, Intent } from './decision.ts';
import { lifecycle } from './lifecycle.ts';
import { scaleDown } from './scale-down.ts';
import { scaleUp } from './scale-up.ts';
import { podName, type Snapshot } from './snapshot.ts';
import { byText, plural } from './text.ts';

/** What to do, given all that is known. Pure: the same snapshot at the same time gives the same decision. */
export function decide(given: Snapshot, now: number): Decision {
  const snapshot = inOrder(given);
  const up = scaleUp(snapshot, now);
  const down = scaleDown(snapshot, now);
  const intents = [...up.intents, ...down.intents];
  const waiting = up.demand.reduce((sum, group) => sum + group.pods, 0);
  return {
    intents,
    idle: down.idle,
    record: {
      at: now,
      summary: summarize(intents, waiting, up.unmet.length),
      demand: up.demand,
      candidates: everyMachine(snapshot, [...up.candidates, ...down.candidates]),
      unmet: up.unmet,
      intents,
    },
  };
}

/** Sorted once: who is listed first is no reason to be chosen. */
function inOrder({ machines, pools, settings, cluster }: Snapshot): Snapshot {
  return {
    machines: machines.toSorted((a, b) => byText(a.spec.name, b.spec.name)),
    pools: pools.toSorted((a, b) => byText(a.name, b.name)),
    settings,
    cluster: {
      pods: cluster.pods.toSorted((a, b) => byText(podName(a), podName(b))),
      nodes: cluster.nodes.toSorted((a, b) => byText(a.name, b.name)),
    },
  };
}

/** What is neither off nor serving is between two states: it is named with what it waits for. */
function everyMachine({ machines }: Snapshot, candidates: readonly Candidate[]): Candidate[] {
  const named = new Set(candidates.map((candidate) => candidate.machine));
  const others = machines
    .filter(({ spec }) => !named.has(spec.name))
    .map(({ spec, status }): Candidate => {
      const { means, waitsFor } = lifecycle[status.state];
      return { machine: spec.name, verdict: 'kept', why: `${means}; waits for ${waitsFor}` };
    });
  return [...candidates, ...others].sort((a, b) => byText(a.machine, b.machine));
}

function summarize(intents: readonly Intent[], waiting: number, unmet: number): string {
  const named = (kind: Intent['kind']): string =>
    intents
      .filter((intent) => intent.kind === kind)
      .map((intent) => intent.machine)
      .join(', ');
  const on = named('power-on');
  const off = named('drain');
  const parts = [
    on
      ? `power on ${on}${waiting > 0 ? ` for ${waiting} ${plural(waiting, 'pod')}` : ''}`
      : waiting > unmet
        ? `room for ${waiting - unmet} waiting ${plural(waiting - unmet, 'pod')} is on its way`
        : 'nothing to power on',
    off ? `drain and power off ${off}` : 'nothing to power off',
  ];
  if (unmet > 0) parts.push(`no machine for ${unmet} ${plural(unmet, 'pod')}`);
  return parts.join('; ');
}
