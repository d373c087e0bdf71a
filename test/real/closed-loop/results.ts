/** What became of one workload. */
export interface Result {
  readonly name: string;
  readonly staggered: boolean;
  readonly pods: number;
  /** Waited when the first decision was made. */
  readonly waited: number;
  readonly powerOns: number;
  /** Counted as served by the first decision, on nodes that run or are powered on. */
  readonly counted: number;
  /** No machine found for them by the first decision; of those alike, one is named. */
  readonly unmet: readonly Left[];
  /** Counted as served and not bound after the first decision was carried out. */
  readonly late: readonly Left[];
  /** … nor after the second. */
  readonly never: readonly Left[];
  /** Machines that the second decision powered on. */
  readonly secondPowerOns: number;
  readonly drains: Drains;
}

export interface Drains {
  readonly nodes: number;
  readonly moved: number;
  /** Moved and without a node for as long as the drained nodes are there, cordoned. */
  readonly held: readonly Left[];
  /** … and after they were removed. */
  readonly waiting: readonly Left[];
  /** … after the decision that followed, too. */
  readonly still: readonly Left[];
}

/** A pod that has no node, and what the scheduler said. */
export interface Left {
  readonly pod: string;
  readonly why: string;
}

export function summary(results: readonly Result[]): string {
  const sum = (amountOf: (result: Result) => number): number =>
    results.reduce((total, result) => total + amountOf(result), 0);
  const having = (amountOf: (result: Result) => number): number =>
    results.filter((result) => amountOf(result) > 0).length;
  const rows: [string, number][] = [
    ['workloads', results.length],
    ['pods', sum(({ pods }) => pods)],
    ['waiting at the first decision', sum(({ waited }) => waited)],
    ['counted as served by the first decision', sum(({ counted }) => counted)],
    ['of them bound after it', sum(({ counted, late }) => counted - late.length)],
    ['left unmet by the first decision', sum(({ unmet }) => unmet.length)],
    ['workloads with such', having(({ unmet }) => unmet.length)],
    ['power-ons', sum(({ powerOns }) => powerOns)],
    ['workloads with a second decision', having(({ late }) => late.length)],
    [
      'of them with machines that came up in two groups',
      having(({ late, staggered }) => (staggered ? late.length : 0)),
    ],
    ['of them with pods left unmet', having(({ late, unmet }) => (unmet.length > 0 ? late.length : 0))],
    ['pods that waited for it', sum(({ late }) => late.length)],
    ['its power-ons', sum(({ secondPowerOns }) => secondPowerOns)],
    ['pods counted as served and never bound', sum(({ never }) => never.length)],
    ['workloads with drains', having(({ drains }) => drains.nodes)],
    ['nodes drained', sum(({ drains }) => drains.nodes)],
    ['pods moved', sum(({ drains }) => drains.moved)],
    ['pods that wait while the drained nodes are there', sum(({ drains }) => drains.held.length)],
    ['workloads with such', having(({ drains }) => drains.held.length)],
    ['pods left waiting after drains', sum(({ drains }) => drains.waiting.length)],
    ['workloads with such', having(({ drains }) => drains.waiting.length)],
    ['of them still waiting after the next decision', sum(({ drains }) => drains.still.length)],
  ];
  return rows.map(([name, amount]) => `${String(amount).padStart(7)}  ${name}`).join('\n');
}

/** One line per workload, with a pod for an example. */
export const examples = (results: readonly Result[], leftOf: (result: Result) => readonly Left[]): string[] =>
  results.flatMap((result) => {
    const left = leftOf(result);
    const [first] = left;
    return first ? [`${result.name}: ${left.length}, ${first.pod}: ${inShort(first.why)}`] : [];
  });

/** Without what the scheduler says of its attempts to make room. */
const inShort = (why: string): string => why.replace(/\. (no new claims|preemption:).*/, '');

/** How many of the pods belong to each kind of app, by their names. */
export function byKind(left: readonly Left[]): string {
  const kinds = Map.groupBy(left, ({ pod }) => /w\d+-([a-z-]+?)-\d/.exec(pod)?.[1] ?? pod);
  return [...kinds].map(([kind, pods]) => `${kind} ${pods.length}`).join(', ') || 'none';
}
