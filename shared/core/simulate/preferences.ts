import type { NodeTerm } from '../cluster/cluster.ts';
import { type Counter, countIn } from './counter.ts';
import type { NodeClass, Tolerance } from './node-filter.ts';
import { termHolds } from './requirements.ts';
import { disliked } from './taints.ts';

/** What a pod would rather have. Nothing of it ever keeps it from a place. */
export interface Wishes {
  readonly nodes: readonly { readonly weight: number; readonly term: NodeTerm }[];
  readonly tolerance: Tolerance;
  /** Each pod of a counter in the same domain is worth its weight. */
  readonly pods: readonly { readonly weight: number; readonly counter: Counter }[];
  /** Found once per class. */
  readonly byClass: number[];
}

/** A taint that asks pods to stay away outweighs the strongest wish for a node. */
const tasteOfTaint = 100;

export function wishFor({ nodes, tolerance, byClass }: Wishes, place: NodeClass): number {
  const known = byClass[place.id];
  if (known !== undefined) return known;
  let score = -tasteOfTaint * disliked(place.taints, tolerance.tolerations);
  for (const { weight, term } of nodes) if (termHolds(term, place.labels, place.name)) score += weight;
  byClass[place.id] = score;
  return score;
}

export function wishForCompany({ pods }: Wishes, domains: Int32Array, row: number): number {
  let score = 0;
  for (const { weight, counter } of pods) {
    const domain = domains[row + counter.key] as number;
    if (domain >= 0) score += weight * countIn(counter, domain);
  }
  return score;
}
