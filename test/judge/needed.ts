import { podName } from '../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { Explained } from '../../shared/core/reasons/reason.ts';
import type { Board, Spot } from './board.ts';
import type { Shape } from './book.ts';
import type { Case, Placed } from './case.ts';
import type { Finding } from './finding.ts';
import { hasRoom, misfit } from './fit.ts';
import { placeAll } from './valid.ts';

type Order = (a: Placed, b: Placed) => number;

const sizeOf = ({ shape }: Placed): number =>
  (shape.example.requests.cpu ?? 0) + (shape.example.requests.memory ?? 0) / 2 ** 21;
const text = ({ pod }: Placed): string => podName(pod);
const orders: readonly Order[] = [
  (a, b) => sizeOf(b) - sizeOf(a),
  (a, b) => (text(a) < text(b) ? -1 : 1),
  (a, b) => sizeOf(a) - sizeOf(b),
];

/** So many are told, and no more: each takes a look at all pods. */
const mostTold = 25;

/** Every machine that is powered on for pods holds some, and the other nodes could not take them. */
export function judgeNeed(given: Case): Finding[] {
  const { board, chosen, decision, assigned, poolOf } = given;
  const wants = new Set(decision.record.wants);
  const isFor = ({ why, reason }: Explained): boolean => reason?.code === 'replaces' || wants.has(why);
  const left = [...new Set(given.left.map((pod) => given.book.shapeOf(pod)))];
  const intentOf = new Map(decision.intents.map((intent) => [intent.machine, intent]));
  const podsAt = Map.groupBy(assigned, ({ spot }) => spot);
  const findings: Finding[] = [];
  // A machine that replaces another is for the pods of that one, one that is wanted for its room is to have it.
  const promised = chosen.filter(({ spec }) => {
    const intent = intentOf.get(spec.name);
    return intent !== undefined && isFor(intent);
  });
  const spotOf = new Map([...podsAt.keys()].map((spot) => [spot.facts.machine, spot]));
  for (const machine of chosen) {
    if (findings.length >= mostTold) break;
    const { spec } = machine;
    const intent = intentOf.get(spec.name);
    const pool = poolOf.get(spec.pool);
    const keepsFree = Object.keys(pool?.headroom ?? {}).length > 0 || (pool?.limits.minNodes ?? 0) > 0;
    if ((intent && isFor(intent)) || keepsFree) continue;
    const spot = spotOf.get(machine);
    if (!spot) {
      findings.push({
        code: 'power-on-idle',
        machine: spec.name,
        text: `${spec.name} holds no pod: ${intent?.why}`,
      });
      continue;
    }
    const pods = podsAt.get(spot) ?? [];
    if (isSpared(board, spot, pods, assigned, promised, left))
      findings.push({
        code: 'power-on-unneeded',
        machine: spec.name,
        text: `the other nodes have room for the ${pods.length} pods of ${spec.name}`,
      });
  }
  return findings;
}

/** Whether the pods find places elsewhere, one by one, and all others can still be where they are. */
function isSpared(
  board: Board,
  spot: Spot,
  pods: readonly Placed[],
  assigned: readonly Placed[],
  promised: readonly Machine[],
  left: readonly Shape[],
): boolean {
  for (const { shape } of pods) board.put(shape, spot, -1);
  board.remove(spot);
  let spared = false;
  for (const order of pods.length > 1 ? orders : orders.slice(0, 1)) {
    const moved = moveAll(board, pods.toSorted(order), promised);
    spared =
      moved !== undefined && isAllowed(board, moved, pods, assigned) && !isCalledFor(board, spot, left);
    for (const { shape, spot: to } of moved ?? []) board.put(shape, to, -1);
    if (spared) break;
  }
  board.add(spot);
  for (const { shape } of pods) board.put(shape, spot, 1);
  return spared;
}

/**
 * Whether a pod that is left over would ask for the machine as soon as it is gone: where a rule evens pods out over
 * nodes, a machine may be needless to those it holds and still be what the others lack.
 */
function isCalledFor(board: Board, spot: Spot, left: readonly Shape[]): boolean {
  board.add(spot);
  const called = left.some((shape) => hasRoom(shape, spot.free) && misfit(board, shape, spot) === undefined);
  board.remove(spot);
  return called;
}

/** First fit; nothing is left on the board when a pod finds no place. */
function moveAll(board: Board, pods: readonly Placed[], promised: readonly Machine[]): Placed[] | undefined {
  const moved: Placed[] = [];
  for (const one of pods) {
    let to: Spot | undefined;
    for (const spot of board.spots.values())
      if (
        !promised.some((machine) => machine === spot.facts.machine) &&
        hasRoom(one.shape, spot.free) &&
        misfit(board, one.shape, spot) === undefined
      ) {
        to = spot;
        break;
      }
    if (!to) {
      for (const { shape, spot } of moved) board.put(shape, spot, -1);
      return undefined;
    }
    board.put(one.shape, to, 1);
    moved.push({ ...one, spot: to });
  }
  return moved;
}

/** Pods that needed those that moved may have lost them: all must find an order anew. */
function isAllowed(
  board: Board,
  moved: readonly Placed[],
  pods: readonly Placed[],
  assigned: readonly Placed[],
): boolean {
  if (assigned.every(({ shape }) => shape.plain)) return true;
  const away = new Set(pods);
  const all = [...assigned.filter((one) => !away.has(one)), ...moved];
  for (const { shape, spot } of all) board.put(shape, spot, -1);
  const stuck = new Set(placeAll(board, all));
  for (const one of stuck) board.put(one.shape, one.spot, 1);
  return stuck.size === 0;
}
