import { distinct, type Reason, textOf } from '../reasons/reason.ts';
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
  const reasons = {
    wants: up.wants,
    limits: distinct([...up.limits, ...down.limits]),
    notes: [...notesOf(snapshot), ...relief.notes],
  };
  const record: DecisionRecord = {
    at: now,
    digest: digestOf(snapshot, now),
    summary: '',
    demand: up.demand,
    wants: reasons.wants.map(textOf),
    candidates: bounded(candidates),
    offers: up.offers,
    limits: reasons.limits.map(textOf),
    unmet: up.unmet,
    notes: reasons.notes.map(textOf),
    reasons,
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

function notesOf({ pools, cluster, triggers, forecasts = [] }: Snapshot): Reason[] {
  const others = pools.flatMap(({ name, managedBy }) => (managedBy === 'bamel' ? [] : [name]));
  return [
    ...others.sort().map(leftToOthers),
    ...(cluster.unread ?? []).map((what): Reason => ({ code: 'not-read', what })),
    ...(triggers ?? []).flatMap(({ pool, trigger, note }): Reason[] =>
      note === undefined ? [] : [{ code: 'trigger-note', pool, trigger, note }],
    ),
    ...forecasts.map((forecast): Reason => ({ code: 'forecast', ...forecast })),
  ];
}

/** Of what is lent: by whom. */
const nameOf = ({ kind, machine, make }: Intent): string =>
  kind === 'power-on' && typeof make?.offer === 'string' ? `${machine} (from offer ${make.offer})` : machine;

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
    ...(larger ? [`enlarge ${larger}`] : []),
    ...(back ? [`cancel the drain of ${back}`] : []),
    off ? `drain and power off ${off}` : 'nothing to power off',
  ];
  if (left > 0) parts.push(`no machine for ${left} ${plural(left, 'pod')}`);
  return parts.join('; ');
}
