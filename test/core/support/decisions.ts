import type { Pod } from '../../../shared/core/cluster/cluster.ts';
import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { now, pod } from './builders.ts';

/** "power-on m1", "drain m2" … */
export const intents = (given: Snapshot, at = now): string[] =>
  decide(given, at).intents.map(({ kind, machine }) => `${kind} ${machine}`);

/** "kept: the reason" */
export const verdict = (given: Snapshot, name: string, at = now): string | undefined => {
  const found = decide(given, at).candidates.find(({ machine }) => machine === name);
  return found && `${found.verdict}: ${found.why}`;
};

export const pods = (count: number, parts: Partial<Pod> = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, parts));

export const summary = (given: Snapshot): string => decide(given, now).record.summary;
