import { lifecycle } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { because } from '../reasons/reason.ts';
import { byText } from '../text.ts';
import type { Candidate } from './decision.ts';

/** Up to so many machines each is told about by itself. */
const mostSingle = 100;
const examples = 5;

/** What is neither off nor serving is between two states: it is named with what it waits for. */
export function everyMachine(machines: readonly Machine[], candidates: readonly Candidate[]): Candidate[] {
  const named = new Set(candidates.map(({ machine }) => machine));
  const others = machines
    .filter(({ spec }) => !named.has(spec.name))
    .map(({ spec, status }): Candidate => {
      const { means, waitsFor } = lifecycle[status.state];
      return {
        machine: spec.name,
        verdict: 'kept',
        ...because({ code: 'between-states', state: status.state, means, waitsFor }),
      };
    });
  return [...candidates, ...others].sort((a, b) => byText(a.machine, b.machine));
}

/** In a large record those that fared the same are told about together; what is chosen is always named. */
export function bounded(candidates: readonly Candidate[]): Candidate[] {
  if (candidates.length <= mostSingle) return [...candidates];
  const chosen: Candidate[] = [];
  const alike = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    if (candidate.verdict !== 'rejected' && candidate.verdict !== 'kept') {
      chosen.push(candidate);
      continue;
    }
    const key = `${candidate.verdict} ${withoutNames(candidate.why)}`;
    const group = alike.get(key);
    if (group) group.push(candidate);
    else alike.set(key, [candidate]);
  }
  const groups = [...alike.values()].flatMap(([first, ...others]): Candidate[] =>
    first
      ? [
          {
            ...first,
            ...(others.length > 0 && {
              alike: {
                count: others.length,
                examples: others.slice(0, examples).map(({ machine }) => machine),
              },
            }),
          },
        ]
      : [],
  );
  return [...chosen, ...groups].sort((a, b) => byText(a.machine, b.machine));
}

/** Reasons that differ in a pod's name or a number only are one reason. */
const withoutNames = (why: string): string =>
  why.replace(/[a-z0-9.-]+\/[a-z0-9.-]+/g, '…').replace(/\d+(\.\d+)?/g, '#');
