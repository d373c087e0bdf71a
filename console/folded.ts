import type { DecisionSummary } from '../shared/view/shapes.ts';

/** A decision, or several in a row that had nothing to do. */
export type Entry =
  | { readonly kind: 'one'; readonly decision: DecisionSummary }
  | { readonly kind: 'quiet'; readonly decisions: readonly DecisionSummary[] };

export const isQuiet = ({ intents, unmet }: DecisionSummary): boolean => intents === 0 && unmet === 0;

/** Folds runs of decisions that neither did anything nor left demand unmet. */
export function folded(decisions: readonly DecisionSummary[]): Entry[] {
  const entries: Entry[] = [];
  let run: DecisionSummary[] = [];
  const flush = (): void => {
    if (run.length > 0) entries.push({ kind: 'quiet', decisions: run });
    run = [];
  };
  for (const decision of decisions) {
    if (isQuiet(decision)) run.push(decision);
    else {
      flush();
      entries.push({ kind: 'one', decision });
    }
  }
  flush();
  return entries;
}
