import type { DecisionView } from '../shared/view/shapes.ts';

export type Candidate = DecisionView['candidates'][number];

/** Machines that fared the same, for the same reason. */
export interface Fate {
  readonly verdict: string;
  readonly why: string;
  readonly machines: readonly Candidate[];
  /** With those that the record itself groups. */
  readonly count: number;
}

export const isChosen = ({ verdict }: Candidate): boolean => verdict !== 'rejected' && verdict !== 'kept';

/** What was done comes first, what was left alone last. */
const order = ['power-on', 'resize', 'cancel-drain', 'drain', 'kept', 'rejected'];

export function fatesOf(candidates: readonly Candidate[]): Fate[] {
  const alike = Map.groupBy(candidates, ({ verdict, why }) => JSON.stringify([verdict, why]));
  return [...alike.values()]
    .flatMap((machines) => {
      const [first] = machines;
      const count = machines.reduce((sum, one) => sum + 1 + (one.alike?.count ?? 0), 0);
      return first ? [{ verdict: first.verdict, why: first.why, machines, count }] : [];
    })
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict) || a.count - b.count);
}
