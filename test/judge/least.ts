import type { Case } from './case.ts';

/**
 * The fewest machines that could hold the pods counted as served, by volume: what does not fit into the room that
 * nodes have, on the largest machines there are. Rules are not looked at, so fewer may be impossible.
 */
export function leastMachines({ assigned, board, book, chosen, spare }: Case): number {
  const isChosen = new Set(chosen);
  const there = [...board.spots.values()].filter(
    ({ shut, facts }) => !shut && !(facts.machine && isChosen.has(facts.machine)),
  );
  const counts = ['cpu', 'memory'].map((name) => {
    const column = book.columns.get(name);
    if (column === undefined) return 0;
    let missing = assigned.reduce((sum, { pod }) => sum + (pod.requests[name] ?? 0), 0);
    for (const { free } of there) missing -= Math.max(0, free[column] as number);
    const sizes = [...chosen, ...spare].map(({ spec }) => spec.resources[name] ?? 0).sort((a, b) => b - a);
    let count = 0;
    for (; missing > 0 && count < sizes.length; count += 1) missing -= sizes[count] ?? 0;
    return count;
  });
  return Math.max(...counts);
}
