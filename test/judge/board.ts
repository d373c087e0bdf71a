import type { HostPort } from '../../shared/core/cluster/cluster.ts';
import { type Book, classText, type Shape } from './book.ts';
import { nodeSelectorHolds, nodeTermsHold, untolerated } from './facts/labels.ts';
import { addNode, addTo, addToGroup } from './facts/tally.ts';
import type { Rule } from './rule.ts';
import type { SpotFacts } from './spots.ts';

/** A node on the board. */
export interface Spot {
  readonly facts: SpotFacts;
  readonly classId: number;
  readonly domains: Int32Array;
  readonly free: Float64Array;
  readonly ports: HostPort[];
  readonly daemons: readonly Shape[];
  shut: boolean;
}

/** Nodes with the pods on them, and everything counted that rules look at. */
export interface Board {
  readonly book: Book;
  readonly spots: Map<string, Spot>;
  /** Pods that use a ReadWriteOncePod claim. */
  readonly claims: Map<string, number>;
  /** Judgements that no pod on a node changes, by the shape's manners and the node's class. */
  readonly known: (Rule | 'fits')[][];
  /** The node as it is when only its DaemonSet pods are on it; it is not added. */
  draft(facts: SpotFacts, present?: ReadonlySet<string>): Spot;
  add(spot: Spot): void;
  /** Takes away a node on which only its DaemonSet pods are left. */
  remove(spot: Spot): void;
  put(shape: Shape, spot: Spot, pods: number): void;
  whereHolds(where: number, spot: Spot): boolean;
  tolerates(tolerance: number, spot: Spot): boolean;
}

export function createBoard(book: Book): Board {
  const { columns, social } = book;
  const spots = new Map<string, Spot>();
  const claims = new Map<string, number>();
  const classes = new Map<string, number>();
  const domainsOf = social.keys.map(() => new Map<string, number>());
  const eligibilities = [...social.eligibilities.values()];
  const wheres = createMemo();
  const tolerances = createMemo();

  const whereHolds: Board['whereHolds'] = (where, { facts, classId }) =>
    wheres(where, classId, () => {
      const { selector, terms } = book.wheres[where] ?? { selector: {}, terms: undefined };
      return nodeSelectorHolds(selector, facts.labels) && nodeTermsHold(terms, facts.labels, facts.name);
    });
  const tolerates: Board['tolerates'] = (tolerance, { facts, classId }) =>
    tolerances(
      tolerance,
      classId,
      () => untolerated(facts.taints, book.tolerances[tolerance] ?? []) === undefined,
    );

  const draft: Board['draft'] = (facts, present) => {
    const text = classText(book, facts, facts.cordoned);
    const classId = classes.get(text) ?? classes.size;
    classes.set(text, classId);
    const free = new Float64Array(columns.size);
    for (const [name, column] of columns) free[column] = facts.allocatable[name] ?? 0;
    const bare = {
      facts,
      classId,
      domains: Int32Array.from(social.keys, (key, index) => {
        const value = Object.hasOwn(facts.labels, key) ? facts.labels[key] : undefined;
        const known = domainsOf[index];
        if (value === undefined || !known) return -1;
        const domain = known.get(value) ?? known.size;
        known.set(value, domain);
        return domain;
      }),
      free,
      ports: [],
      daemons: [],
      shut: facts.shut,
    };
    const daemons = facts.future
      ? book.daemons
          .filter(({ name, shape }) => {
            const runsThere = whereHolds(shape.where, bare) && tolerates(shape.tolerance, bare);
            return runsThere && present?.has(name) !== true;
          })
          .map(({ shape }) => shape)
      : [];
    for (const shape of daemons) takeRoom(shape, free, 1);
    return { ...bare, daemons };
  };

  const count = (shape: Shape, spot: Spot, pods: number): void => {
    const { domains } = spot;
    for (const tally of shape.feeds) addTo(tally, domains[tally.key] as number, pods);
    for (const group of shape.spreadFeeds)
      if (isEligible(group.eligibility, spot))
        addToGroup(group, domains[group.eligibility.key] as number, pods);
    for (const port of shape.ports) {
      if (pods > 0) spot.ports.push(port);
      else spot.ports.splice(spot.ports.indexOf(port), 1);
    }
    for (const claim of shape.volumes?.exclusive ?? []) claims.set(claim, (claims.get(claim) ?? 0) + pods);
  };
  const isEligible = ({ keys, where, tolerance }: (typeof eligibilities)[number], spot: Spot): boolean =>
    keys.every((key) => (spot.domains[key] as number) >= 0) &&
    (where === undefined || whereHolds(where, spot)) &&
    (tolerance === undefined || tolerates(tolerance, spot));

  return {
    book,
    spots,
    claims,
    known: [],
    draft,
    whereHolds,
    tolerates,
    add(spot) {
      spots.set(spot.facts.name, spot);
      for (const one of eligibilities)
        if (isEligible(one, spot)) addNode(one, spot.domains[one.key] as number, 1);
      for (const shape of spot.daemons) count(shape, spot, 1);
    },
    remove(spot) {
      for (const shape of spot.daemons) count(shape, spot, -1);
      for (const one of eligibilities)
        if (isEligible(one, spot)) addNode(one, spot.domains[one.key] as number, -1);
      spots.delete(spot.facts.name);
    },
    put(shape, spot, pods) {
      takeRoom(shape, spot.free, pods);
      count(shape, spot, pods);
    },
  };
}

function takeRoom({ columns, amounts }: Shape, free: Float64Array, pods: number): void {
  for (let i = 0; i < columns.length; i += 1) {
    const column = columns[i] as number;
    free[column] = (free[column] as number) - pods * (amounts[i] as number);
  }
}

/** Remembers a yes or no by two numbers. */
function createMemo(): (first: number, second: number, answer: () => boolean) => boolean {
  const rows: (boolean | undefined)[][] = [];
  return (first, second, answer) => {
    let row = rows[first];
    if (!row) {
      row = [];
      rows[first] = row;
    }
    let known = row[second];
    if (known === undefined) {
      known = answer();
      row[second] = known;
    }
    return known;
  };
}
