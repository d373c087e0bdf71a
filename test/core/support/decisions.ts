import type { Pod } from '../../../shared/core/cluster/cluster.ts';
import { decide } from '../../../shared/core/decide/decide.ts';
import type { Candidate, DecisionRecord } from '../../../shared/core/decide/decision.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import { now, pod } from './builders.ts';

/** "power-on m1", "drain m2" … */
export const intents = (given: Snapshot, at = now): string[] =>
  decide(given, at).intents.map(({ kind, machine }) => `${kind} ${machine}`);

/** The verdict with the code and the facts of its reason. */
export const verdict = (
  given: Snapshot,
  name: string,
  at = now,
): ({ readonly verdict: Candidate['verdict'] } & Partial<Reason>) | undefined => {
  const found = decide(given, at).candidates.find(({ machine }) => machine === name);
  return found && { verdict: found.verdict, ...found.reason };
};

/** What the record names beside machines. */
export const reasons = (given: Snapshot, at = now): NonNullable<DecisionRecord['reasons']> => {
  const found = decide(given, at).record.reasons;
  if (!found) throw new Error('the record has no reasons');
  return found;
};

export const pods = (count: number, parts: Partial<Pod> = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, parts));

export const summary = (given: Snapshot): string => decide(given, now).record.summary;
