import type { ClusterView, Labels, PodTerm, Requirement } from '../cluster/cluster.ts';
import { type Counter, createCounter } from './counter.ts';
import { selects } from './requirements.ts';
import type { SpreadGroup } from './spread.ts';

/** Pods that somebody's rule is about. */
export interface PodSelector {
  readonly id: number;
  /** Undefined: in every namespace. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly requirements: readonly Requirement[] | undefined;
  /** How many it selects, by topology key. */
  readonly selected: Map<number, Counter>;
  /** How many there are that refuse to be near one it selects, by topology key. */
  readonly refusers: Map<number, Counter>;
  readonly spreads: SpreadGroup[];
  /** Sets whose first selector this is. */
  readonly sets: AffinitySet[];
}

/** Pods that all terms of one pod's affinity select: only those count for it. */
export interface AffinitySet {
  readonly selectors: readonly PodSelector[];
  /** One per term. */
  readonly counters: readonly Counter[];
}

export interface PodTerms {
  readonly selectors: Map<string, PodSelector>;
  /** By a label that a selected pod must have, … */
  readonly byLabel: Map<string, PodSelector[]>;
  /** … or here, when there is none. */
  readonly byNoLabel: PodSelector[];
  readonly sets: Map<string, AffinitySet>;
  readonly namespaces: ClusterView['namespaces'];
}

export const createPodTerms = (namespaces: ClusterView['namespaces']): PodTerms => ({
  selectors: new Map(),
  byLabel: new Map(),
  byNoLabel: [],
  sets: new Map(),
  namespaces,
});

type Target = Pick<PodTerm, 'selector' | 'namespaces' | 'namespaceSelector'>;

export function selectorFor(terms: PodTerms, target: Target, own: string): PodSelector {
  const namespaces = namespacesOf(terms, target, own);
  const text = JSON.stringify([namespaces?.toSorted(), target.selector]);
  const known = terms.selectors.get(text);
  if (known) return known;
  const selector: PodSelector = {
    id: terms.selectors.size,
    namespaces: namespaces && new Set(namespaces),
    requirements: target.selector,
    selected: new Map(),
    refusers: new Map(),
    spreads: [],
    sets: [],
  };
  terms.selectors.set(text, selector);
  const mark = target.selector?.find(({ operator }) => operator === 'In');
  if (!mark) terms.byNoLabel.push(selector);
  for (const value of mark?.values ?? []) {
    const label = labelText(mark?.key ?? '', value);
    const others = terms.byLabel.get(label);
    if (others) others.push(selector);
    else terms.byLabel.set(label, [selector]);
  }
  return selector;
}

const labelText = (key: string, value: string): string => `${key}=${value}`;

/** Undefined: all of them. */
function namespacesOf(
  { namespaces: known }: PodTerms,
  { namespaces = [], namespaceSelector }: Target,
  own: string,
): readonly string[] | undefined {
  if (!namespaceSelector) return namespaces.length > 0 ? namespaces : [own];
  if (namespaceSelector.length === 0) return undefined;
  return [
    ...namespaces,
    ...(known ?? []).filter(({ labels }) => selects(namespaceSelector, labels)).map(({ name }) => name),
  ];
}

/** Every selector that selects such a pod. */
export function selectorsOf(terms: PodTerms, namespace: string, labels: Labels): Set<PodSelector> {
  const candidates = [...terms.byNoLabel];
  for (const [key, value] of Object.entries(labels))
    candidates.push(...(terms.byLabel.get(labelText(key, value)) ?? []));
  return new Set(
    candidates.filter(
      ({ namespaces, requirements }) =>
        (namespaces === undefined || namespaces.has(namespace)) && selects(requirements, labels),
    ),
  );
}

export function counterFor(counters: Map<number, Counter>, key: number): Counter {
  let counter = counters.get(key);
  if (!counter) {
    counter = createCounter(key);
    counters.set(key, counter);
  }
  return counter;
}

export function affinitySet(
  terms: PodTerms,
  selectors: readonly PodSelector[],
  keys: readonly number[],
): AffinitySet {
  const text = JSON.stringify([selectors.map(({ id }) => id), keys]);
  const known = terms.sets.get(text);
  if (known) return known;
  const byKey = new Map<number, Counter>();
  const set = { selectors, counters: keys.map((key) => counterFor(byKey, key)) };
  terms.sets.set(text, set);
  selectors[0]?.sets.push(set);
  return set;
}
