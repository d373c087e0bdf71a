import { describeForecast } from '../forecast/pool-forecast.ts';
import { scaleDown } from '../scale-down/scale-down.ts';
import { leftToOthers } from '../scale-up/candidates.ts';
import { usualEffort } from '../scale-up/plan.ts';
import { type Assignment, scaleUp } from '../scale-up/scale-up.ts';
import { createWorld } from '../simulate/simulated-cluster.ts';
import { plural } from '../text.ts';
import type { Candidate, Decision, DecisionRecord, Intent } from './decision.ts';
import { bounded, everyMachine } from './decision-record.ts';
import { digestOf } from './digest.ts';
import { survey } from './indexed-snapshot.ts';
import { minimumsOf, relieve, useOf } from './signals/demand-signals.ts';
import type { Snapshot } from './snapshot.ts';

/** A decision, and where it counts on waiting pods to go. */
export interface Considered extends Decision {
  readonly assignments: () => Assignment[];
}

/**
 * What to do, given all that is known. Pure: the same snapshot at the same time gives the same decision. With more
 * effort more ways to serve the pods are compared; with none the first draft is taken, as in very large clusters.
 */
export function decide(snapshot: Snapshot, now: number, effort = usualEffort): Considered {
  const situation = survey(snapshot, now);
  const world = createWorld(snapshot, now);
  const minimums = minimumsOf(situation);
  const relief = relieve(situation, (machine) => useOf(situation, [machine]));
  const up = scaleUp(situation, world, minimums, relief, effort);
  const down = scaleDown(situation, world, minimums, relief, up);
  const intents = [...up.intents, ...down.intents];
  const candidates = everyMachine(situation.machines, onceEach([...up.candidates, ...down.candidates]));
  const record: DecisionRecord = {
    at: now,
    digest: digestOf(snapshot, now),
    summary: '',
    demand: up.demand,
    wants: up.wants,
    candidates: bounded(candidates),
    offers: up.offers,
    limits: [...new Set([...up.limits, ...down.limits])],
    unmet: up.unmet,
    notes: [...notesOf(snapshot), ...relief.notes],
    intents,
  };
  return {
    intents,
    idle: down.idle,
    candidates,
    assignments: up.assignments,
    record: { ...record, summary: summarize(record) },
  };
}

/** What is done with a machine says more than why it was passed over, or kept, otherwise. */
function onceEach(candidates: readonly Candidate[]): readonly Candidate[] {
  const isIdle = ({ verdict }: Candidate): boolean => verdict === 'rejected' || verdict === 'kept';
  const busy = new Set(candidates.filter((one) => !isIdle(one)).map(({ machine }) => machine));
  return candidates.filter((one) => !isIdle(one) || !busy.has(one.machine));
}

function notesOf({ pools, cluster, triggers, forecasts = [] }: Snapshot): string[] {
  const others = pools.filter(({ managedBy }) => managedBy !== 'bamel').map(({ name }) => leftToOthers(name));
  const odd = (triggers ?? []).flatMap(({ pool, trigger, note }) =>
    note === undefined ? [] : [`trigger ${trigger} of pool ${pool}: ${note}`],
  );
  return [...others.sort(), ...(cluster.unread ?? []), ...odd, ...forecasts.map(describeForecast)];
}

/** Of what is lent: by whom. */
const nameOf = ({ kind, machine, make }: Intent): string =>
  kind === 'power-on' && typeof make?.offer === 'string' ? `${machine} (lent by ${make.offer})` : machine;

/** A summary is for reading at a glance: beyond so many, machines are counted. */
const mostNamed = 10;

function summarize({ intents, demand, unmet }: DecisionRecord): string {
  const named = (kind: Intent['kind']): string => {
    const names = intents.filter((intent) => intent.kind === kind).map(nameOf);
    return names.length <= mostNamed ? names.join(', ') : `${names.length} machines`;
  };
  const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);
  const waiting = sum(demand.map(({ pods }) => pods));
  const left = sum(unmet.map(({ pods }) => pods));
  const on = named('power-on');
  const off = named('drain');
  const back = named('cancel-drain');
  const larger = named('resize');
  const room =
    waiting > left && !back
      ? `room for ${waiting - left} waiting ${plural(waiting - left, 'pod')} is on its way`
      : 'nothing to power on';
  const parts = [
    ...(on ? [`power on ${on}${waiting > 0 ? ` for ${waiting} ${plural(waiting, 'pod')}` : ''}`] : []),
    ...(on || larger ? [] : [room]),
    ...(larger ? [`make ${larger} larger`] : []),
    ...(back ? [`call off the drain of ${back}`] : []),
    off ? `drain and power off ${off}` : 'nothing to power off',
  ];
  if (left > 0) parts.push(`no machine for ${left} ${plural(left, 'pod')}`);
  return parts.join('; ');
}
