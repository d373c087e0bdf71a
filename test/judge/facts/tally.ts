/** Pods counted by the domain they are in: one count per value of one topology label. */
export interface Tally {
  readonly key: number;
  readonly counts: Map<number, number>;
  total: number;
}

export const createTally = (key: number): Tally => ({ key, counts: new Map(), total: 0 });

/** A node without the label is in no domain and counts nowhere. */
export function addTo(tally: Tally, domain: number, pods: number): void {
  if (domain < 0) return;
  tally.counts.set(domain, (tally.counts.get(domain) ?? 0) + pods);
  tally.total += pods;
}

export const countOf = (tally: Tally, domain: number): number => tally.counts.get(domain) ?? 0;

/** Nodes that one kind of spread rule looks at. */
export interface Eligibility {
  readonly key: number;
  /** All topology keys of the pod's hard rules: a node needs every one. */
  readonly keys: readonly number[];
  /** Undefined: node affinity does not matter. */
  readonly where: number | undefined;
  readonly tolerance: number | undefined;
  readonly nodesIn: Map<number, number>;
  readonly groups: SpreadGroup[];
}

/** Pods of one selector over the domains of an eligibility. */
export interface SpreadGroup {
  readonly eligibility: Eligibility;
  readonly counts: Map<number, number>;
  /** How many domains hold exactly so many pods. */
  readonly histogram: number[];
  low: number;
}

export function addNode(eligibility: Eligibility, domain: number, by: 1 | -1): void {
  const before = eligibility.nodesIn.get(domain) ?? 0;
  const after = before + by;
  if (after > 0) eligibility.nodesIn.set(domain, after);
  else eligibility.nodesIn.delete(domain);
  if (before > 0 && after > 0) return;
  for (const group of eligibility.groups) {
    const pods = group.counts.get(domain) ?? 0;
    group.histogram[pods] = (group.histogram[pods] ?? 0) + by;
    if (by > 0) group.low = Math.min(group.low, pods);
  }
}

export function addToGroup(group: SpreadGroup, domain: number, pods: number): void {
  const before = group.counts.get(domain) ?? 0;
  const after = before + pods;
  group.counts.set(domain, after);
  group.histogram[before] = (group.histogram[before] ?? 0) - 1;
  group.histogram[after] = (group.histogram[after] ?? 0) + 1;
  group.low = Math.min(group.low, after);
}

/** The fewest pods in any domain; 0 while there are fewer domains than `minDomains`. */
export function fewest(group: SpreadGroup, minDomains: number): number {
  const domains = group.eligibility.nodesIn.size;
  if (domains < minDomains) return 0;
  if (domains === 0) return Number.POSITIVE_INFINITY;
  while (!group.histogram[group.low]) group.low += 1;
  return group.low;
}
