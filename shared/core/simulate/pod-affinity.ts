import type { HostPort, Pod, PodTerm, SpreadRule } from '../cluster/cluster.ts';
import { type Reason, textOf } from '../reasons/reason.ts';
import { byText } from '../text.ts';
import { type Counter, createCounter } from './counter.ts';
import type { Ask } from './node-filter.ts';
import type { AffinityNeed, Blocker, PodKind } from './pod-class.ts';
import {
  affinitySet,
  counterFor,
  type PodSelector,
  type PodTerms,
  selectorFor,
  selectorsOf,
} from './pod-terms.ts';
import type { Wishes } from './preferences.ts';
import { describeSelector } from './requirements.ts';
import { createGroup, type Eligibility, type SpreadGroup, type SpreadNeed } from './spread.ts';
import { samePlace, type Topology, topologyKey, wholeCluster } from './topology.ts';

/** The part of a kind that is about other pods. */
type Sociable = Pick<PodKind, 'blockers' | 'affinity' | 'spread' | 'wishes' | 'feeds' | 'spreadFeeds'>;

/** Whom pods want near and whom they do not, and what counts them. */
export interface Company {
  readonly eligibilities: readonly Eligibility[];
  /** True when others must have been counted for it from the start. */
  isKept(pod: Pod): boolean;
  of(pod: Pod, ask: Ask, exclusive: readonly string[]): Sociable;
  /** Fills in what other kinds' rules mean for this one. */
  connect(kind: PodKind): void;
}

/** Fewer of its like are better, wherever a pod only wishes to be spread. */
const spreadWish = -10;

export function createCompany(topology: Topology, terms: PodTerms): Company {
  const eligibilities = new Map<string, Eligibility>();
  const groups = new Map<string, SpreadGroup>();
  const ports = new Map<string, { readonly port: HostPort; readonly counter: Counter }[]>();
  const claims = new Map<string, Counter>();
  const numbers = new Map<object, number>();
  const numberOf = (thing: object | undefined): number => {
    if (!thing) return 0;
    const known = numbers.get(thing);
    if (known) return known;
    numbers.set(thing, numbers.size + 1);
    return numbers.size;
  };
  const told = ({ why, counter }: Blocker): string => textOf(why(topology.keys[counter.key] ?? ''));
  const at = (term: { readonly topologyKey: string }): number => topologyKey(topology, term.topologyKey);

  const spreadGroup = (
    rule: SpreadRule,
    selector: PodSelector,
    keys: readonly number[],
    { where, tolerance }: Ask,
  ): SpreadGroup => {
    const own = {
      key: at(rule),
      keys,
      where: rule.ignoresAffinity ? undefined : where,
      tolerance: rule.honorsTaints ? tolerance : undefined,
    };
    const text = `${own.key} ${keys} ${numberOf(own.where)} ${numberOf(own.tolerance)}`;
    let eligibility = eligibilities.get(text);
    if (!eligibility) {
      eligibility = { ...own, members: new Uint8Array(0), placesIn: new Int32Array(0), domains: 0 };
      eligibilities.set(text, eligibility);
    }
    const groupText = `${selector.id} ${text}`;
    let group = groups.get(groupText);
    if (!group) {
      group = createGroup(eligibility);
      groups.set(groupText, group);
      selector.spreads.push(group);
    }
    return group;
  };
  const usersOf = (port: HostPort): { readonly port: HostPort; readonly counter: Counter }[] => {
    const text = `${port.protocol} ${port.port}`;
    const users = ports.get(text) ?? [];
    ports.set(text, users);
    if (!users.some((user) => user.port.ip === port.ip))
      users.push({ port, counter: createCounter(samePlace) });
    return users;
  };
  const usersOfClaim = (claim: string): Counter => {
    const counter = claims.get(claim) ?? createCounter(wholeCluster);
    claims.set(claim, counter);
    return counter;
  };

  return {
    get eligibilities() {
      return [...eligibilities.values()];
    },
    isKept: ({ rules }) =>
      [rules?.podAffinity, rules?.podAntiAffinity, rules?.podPreferences, rules?.spread, rules?.ports].some(
        (list) => (list ?? []).length > 0,
      ),
    of({ namespace, rules }, ask, exclusive) {
      const selectorOf = (term: PodTerm | SpreadRule): PodSelector => selectorFor(terms, term, namespace);
      const refused = (rules?.podAntiAffinity ?? []).map((term) => ({ term, selector: selectorOf(term) }));
      const hard = (rules?.spread ?? []).filter((rule) => rule.hard);
      const keys = [...new Set(hard.map(at))];
      const spread = hard.map((rule): SpreadNeed => {
        const selector = selectorOf(rule);
        // As kube-scheduler has it: a selector for every pod counts none, though the pod itself is selected.
        const counted = rule.selector?.length === 0 ? selectorOf({ ...rule, selector: undefined }) : selector;
        const group = spreadGroup(rule, counted, keys, ask);
        return { selector, group, maxSkew: rule.maxSkew, minDomains: rule.minDomains ?? 1, self: 0 };
      });
      const wishes: Wishes = {
        nodes: rules?.nodePreferences ?? [],
        tolerance: ask.tolerance,
        pods: [
          ...(rules?.podPreferences ?? []).map(({ weight, term }) => ({
            weight,
            counter: counterFor(selectorOf(term).selected, at(term)),
          })),
          ...(rules?.spread ?? [])
            .filter((rule) => !rule.hard)
            .map((rule) => ({
              weight: spreadWish / rule.maxSkew,
              counter: counterFor(selectorOf(rule).selected, at(rule)),
            })),
        ],
        byClass: [],
      };
      const own = (rules?.ports ?? []).flatMap((port) =>
        usersOf(port).filter((user) => user.port.ip === port.ip),
      );
      return {
        affinity: affinityNeed(rules?.podAffinity ?? [], selectorOf),
        spread,
        wishes,
        blockers: [
          ...refused.map(({ term, selector }) => ({
            counter: counterFor(selector.selected, at(term)),
            why: (within: string): Reason => ({
              code: 'anti-affinity',
              selector: describeSelector(term.selector),
              within,
            }),
          })),
          ...exclusive.map((claim) => ({
            counter: usersOfClaim(claim),
            why: (within: string): Reason => ({ code: 'claim-in-use', claim, within }),
          })),
        ],
        feeds: [
          ...refused.map(({ term, selector }) => counterFor(selector.refusers, at(term))),
          ...own.map(({ counter }) => counter),
          ...exclusive.map(usersOfClaim),
        ],
        spreadFeeds: [],
      };
    },
    connect(kind) {
      const selectors = selectorsOf(terms, kind.namespace, kind.labels);
      const mutable = kind as Mutable<PodKind>;
      const feeds = new Set(kind.feeds);
      const spreadFeeds = new Set<SpreadGroup>();
      const blockers = new Map(kind.blockers.map((blocker) => [blocker.counter, blocker]));
      for (const selector of selectors) {
        for (const counter of selector.selected.values()) feeds.add(counter);
        for (const counter of selector.refusers.values())
          blockers.set(counter, {
            counter,
            why: (within) => ({
              code: 'anti-affinity-of-other',
              selector: describeSelector(selector.requirements),
              within,
            }),
          });
        for (const set of selector.sets)
          if (set.selectors.every((other) => selectors.has(other)))
            for (const counter of set.counters) feeds.add(counter);
        // What is about to go is not counted for evenness.
        if (!kind.example.terminating) for (const group of selector.spreads) spreadFeeds.add(group);
      }
      for (const port of kind.example.rules?.ports ?? [])
        for (const user of usersOf(port))
          if (clash(user.port, port))
            blockers.set(user.counter, {
              counter: user.counter,
              why: (within) => ({
                code: 'host-port-taken',
                protocol: port.protocol,
                port: port.port,
                within,
              }),
            });
      mutable.feeds = [...feeds];
      mutable.spreadFeeds = [...spreadFeeds];
      // The first that applies is the one that is told: whoever was listed first must not matter.
      mutable.blockers = [...blockers.values()].sort((a, b) => byText(told(a), told(b)));
      mutable.spread = kind.spread.map((need) => ({
        ...need,
        self: selectors.has(need.selector) ? 1 : 0,
      }));
      if (kind.affinity)
        mutable.affinity = {
          ...kind.affinity,
          self: kind.affinity.set.selectors.every((selector) => selectors.has(selector)),
        };
    },
  };

  function affinityNeed(
    wanted: readonly PodTerm[],
    selectorOf: (term: PodTerm) => PodSelector,
  ): AffinityNeed | undefined {
    if (wanted.length === 0) return undefined;
    const set = affinitySet(terms, wanted.map(selectorOf), wanted.map(at));
    return {
      set,
      self: false,
      why: {
        code: 'pod-affinity',
        terms: wanted.map((term) => ({
          selector: describeSelector(term.selector),
          within: term.topologyKey,
        })),
      },
    };
  }
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

const anywhere = '0.0.0.0';

const clash = (a: HostPort, b: HostPort): boolean => a.ip === b.ip || a.ip === anywhere || b.ip === anywhere;
