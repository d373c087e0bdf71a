import { podName } from '../../shared/core/decide/snapshot.ts';
import type { Board } from './board.ts';
import type { Case, Placed } from './case.ts';
import type { Finding } from './finding.ts';
import { misfit } from './fit.ts';

/**
 * Puts the assigned pods on the board one by one, each on its place, in an order in which every one is allowed when its
 * turn comes. What is allowed in no order that was tried is returned, and is not on the board.
 */
export function placeAll(board: Board, pods: readonly Placed[]): readonly Placed[] {
  let best: { readonly order: readonly Placed[]; readonly stuck: readonly Placed[] } | undefined;
  for (const order of ordersOf(pods)) {
    const stuck = placeInRounds(board, order);
    if (stuck.length === 0) return stuck;
    if (!best || stuck.length < best.stuck.length) best = { order, stuck };
    const left = new Set(stuck);
    for (const { shape, spot } of order.filter((one) => !left.has(one))) board.put(shape, spot, -1);
  }
  return best ? placeInRounds(board, best.order) : [];
}

/** Whoever is allowed goes; whoever is not asks again, until a round brings nothing. */
function placeInRounds(board: Board, order: readonly Placed[]): readonly Placed[] {
  let waiting = order;
  for (;;) {
    const next = waiting.filter((one) => {
      if (misfit(board, one.shape, one.spot)) return true;
      board.put(one.shape, one.spot, 1);
      return false;
    });
    if (next.length === waiting.length || next.length === 0) return next;
    waiting = next;
  }
}

/** Orders that leave no pod out for a reason that another order would not have. */
function* ordersOf(pods: readonly Placed[]): Generator<readonly Placed[]> {
  const turn = evenly(pods);
  const sociable = ({ shape }: Placed): number => (shape.affinity ? 0 : shape.spread.length > 0 ? 1 : 2);
  if (pods.every(({ shape }) => shape.plain)) {
    yield pods;
    return;
  }
  yield pods.toSorted((a, b) => sociable(a) - sociable(b) || (turn.get(a) ?? 0) - (turn.get(b) ?? 0));
  yield pods;
  yield pods.toSorted((a, b) => (turn.get(a) ?? 0) - (turn.get(b) ?? 0));
  yield pods.toSorted((a, b) => sociable(b) - sociable(a));
  yield pods.toReversed();
}

/** Which pod it is of those of its kind in its domain: the first of every domain come before the second of any. */
function evenly(pods: readonly Placed[]): ReadonlyMap<Placed, number> {
  const counts = new Map<string, number>();
  return new Map(
    pods.map((one) => {
      const { shape, spot } = one;
      const [group] = shape.spread[0] ? [shape.spread[0].group] : shape.spreadFeeds;
      const domain = group ? spot.domains[group.eligibility.key] : -1;
      const key = `${group ? shape.manners : ''} ${domain}`;
      const turn = (counts.get(key) ?? 0) + 1;
      counts.set(key, turn);
      return [one, turn];
    }),
  );
}

/** Every assigned pod is allowed where it is assigned. Leaves the pods on the board. */
export function judgePlaces({ board, assigned }: Case): Finding[] {
  return placeAll(board, assigned).map(({ pod, shape, spot }) => {
    const rule = misfit(board, shape, spot) ?? 'spread';
    return {
      code: rule === 'shut' ? 'place-shut' : `rule-${rule}`,
      pod: podName(pod),
      machine: spot.facts.name,
      text: `${podName(pod)} on ${spot.facts.name}: ${rule}`,
    };
  });
}
