import { nodeOfMachine, type Situation } from '../decide/indexed-snapshot.ts';
import type { Machine } from '../machine/machine.ts';
import { openPlace, type Place, type World } from '../simulate/simulated-cluster.ts';

/** A node that is being drained, as it would be if it were not: with the pods that are still on it. */
export function reopen(world: World, situation: Situation, machine: Machine): Place | undefined {
  const node = nodeOfMachine(situation, machine);
  const place = node && world.byNode.get(node.name);
  if (!node?.ready || !place) return undefined;
  openPlace(world, place);
  return place;
}
