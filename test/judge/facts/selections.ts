import type { ClusterView, Pod, PodTerm, SpreadRule } from '../../../shared/core/cluster/cluster.ts';
import type { Affinity, Selection, Social, SpreadNeed } from '../social.ts';
import { selectorHolds } from './labels.ts';
import { createTally, type Eligibility, type SpreadGroup, type Tally } from './tally.ts';

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export function createSelections(namespaces: ClusterView['namespaces']) {
  const keys: string[] = [];
  const keyOf = (label: string): number => {
    const known = keys.indexOf(label);
    return known >= 0 ? known : keys.push(label) - 1;
  };
  const all = new Map<string, Selection>();
  const affinities = new Map<string, Affinity>();
  const eligibilities = new Map<string, Eligibility>();
  const groups = new Map<string, SpreadGroup>();

  const selectionOf = (term: PodTerm | SpreadRule, own: string): Selection => {
    const named = 'namespaces' in term ? (term.namespaces ?? []) : [];
    const chosen = 'namespaceSelector' in term ? term.namespaceSelector : undefined;
    let among: string[] | undefined = named.length > 0 ? [...named] : [own];
    if (chosen)
      among =
        chosen.length === 0
          ? undefined
          : [
              ...named,
              ...(namespaces ?? [])
                .filter((one) => selectorHolds(chosen, one.labels))
                .map(({ name }) => name),
            ];
    const text = JSON.stringify([among?.sort(), term.selector]);
    let found = all.get(text);
    if (!found) {
      found = {
        id: all.size,
        namespaces: among && new Set(among),
        selector: term.selector,
        selected: new Map(),
        refusers: new Map(),
        spreads: new Set(),
        affinities: new Set(),
      };
      all.set(text, found);
    }
    return found;
  };
  const tallyIn = (tallies: Map<number, Tally>, key: number): Tally => {
    const known = tallies.get(key) ?? createTally(key);
    tallies.set(key, known);
    return known;
  };

  const affinityOf = (terms: readonly PodTerm[], own: string): Affinity | undefined => {
    if (terms.length === 0) return undefined;
    const selections = terms.map((term) => selectionOf(term, own));
    const text = JSON.stringify(terms.map((term, index) => [selections[index]?.id, term.topologyKey]));
    const known = affinities.get(text);
    if (known) return known;
    const tallies = new Map<number, Tally>();
    const made = {
      selections,
      tallies: terms.map((term) => tallyIn(tallies, keyOf(term.topologyKey))),
      self: false,
    };
    affinities.set(text, made);
    selections[0]?.affinities.add(made);
    return made;
  };

  const spreadOf = (
    rules: readonly SpreadRule[],
    own: string,
    where: number,
    tolerance: number,
  ): SpreadNeed[] => {
    const ruleKeys = rules.map((rule) => keyOf(rule.topologyKey));
    return rules.map((rule): SpreadNeed => {
      const selection = selectionOf(rule, own);
      const key = keyOf(rule.topologyKey);
      const wherever = rule.ignoresAffinity ? undefined : where;
      const tolerated = rule.honorsTaints ? tolerance : undefined;
      const text = `${key}|${[...new Set(ruleKeys)].sort()}|${wherever}|${tolerated}`;
      const eligibility: Eligibility = eligibilities.get(text) ?? {
        key,
        keys: ruleKeys,
        where: wherever,
        tolerance: tolerated,
        nodesIn: new Map(),
        groups: [],
      };
      eligibilities.set(text, eligibility);
      // kube-scheduler counts no pods for an empty selector.
      const counted = rule.selector?.length === 0 ? 'none' : selection.id;
      const group: SpreadGroup = groups.get(`${counted}|${text}`) ?? {
        eligibility,
        counts: new Map(),
        histogram: [],
        low: 0,
      };
      if (!groups.has(`${counted}|${text}`)) {
        groups.set(`${counted}|${text}`, group);
        eligibility.groups.push(group);
      }
      if (counted !== 'none') selection.spreads.add(group);
      return { group, selection, maxSkew: rule.maxSkew, minDomains: rule.minDomains ?? 1, self: 0 };
    });
  };

  const matched = new Map<string, ReadonlySet<Selection>>();
  const selectionsOf = ({ namespace, labels = {} }: Pod): ReadonlySet<Selection> => {
    const text = `${namespace}|${JSON.stringify(labels)}`;
    let found = matched.get(text);
    if (!found) {
      found = new Set(
        [...all.values()].filter(
          (one) => (one.namespaces?.has(namespace) ?? true) && selectorHolds(one.selector, labels),
        ),
      );
      matched.set(text, found);
    }
    return found;
  };

  return {
    keys,
    eligibilities,
    /** Notes what the pod's rules look at; `connect` completes it when all pods are noted. */
    register({ namespace, rules }: Pod, where: number, tolerance: number): Social {
      const anti = (rules?.podAntiAffinity ?? []).map((term) => ({
        selection: selectionOf(term, namespace),
        key: keyOf(term.topologyKey),
      }));
      return {
        blockers: anti.map(({ selection, key }) => tallyIn(selection.selected, key)),
        feeds: anti.map(({ selection, key }) => tallyIn(selection.refusers, key)),
        affinity: affinityOf(rules?.podAffinity ?? [], namespace),
        spread: spreadOf(
          (rules?.spread ?? []).filter(({ hard }) => hard),
          namespace,
          where,
          tolerance,
        ),
        spreadFeeds: [],
      };
    },
    connect(shape: Social, pod: Pod): void {
      const own = shape as Mutable<Social>;
      const selections = selectionsOf(pod);
      const selects = (one: Affinity): boolean => one.selections.every((each) => selections.has(each));
      const matches = [...selections];
      own.feeds = [
        ...new Set([
          ...own.feeds,
          ...matches.flatMap(({ selected }) => [...selected.values()]),
          ...matches.flatMap((one) => [...one.affinities].filter(selects).flatMap(({ tallies }) => tallies)),
        ]),
      ];
      own.blockers = [
        ...new Set([...own.blockers, ...matches.flatMap(({ refusers }) => [...refusers.values()])]),
      ];
      own.spreadFeeds = pod.terminating ? [] : [...new Set(matches.flatMap(({ spreads }) => [...spreads]))];
      own.spread = own.spread.map((need) => ({ ...need, self: selections.has(need.selection) ? 1 : 0 }));
      if (own.affinity) own.affinity = { ...own.affinity, self: selects(own.affinity) };
    },
  };
}
