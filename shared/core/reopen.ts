import type { Machine } from './machine.ts';
import { nodeOfMachine, podsOf, type Situation } from './situation.ts';
import { addMachine, kindOf, type Place, put, remove, type World } from './world/world.ts';

/** A node that is being drained, as it would be if it were not: with the pods that are still on it. */
export function reopen(world: World, situation: Situation, machine: Machine): Place | undefined {
  const node = nodeOfMachine(situation, machine);
  const closed = node && world.byNode.get(node.name);
  if (!node?.ready || !closed) return undefined;
  const place = addMachine(world, machine);
  for (const pod of podsOf(situation, node.name)) {
    // Those of DaemonSets are counted with the machine, where DaemonSets could be read.
    if (pod.belongsToNode && situation.cluster.daemonSets) continue;
    const kind = kindOf(world, pod);
    remove(world, kind, closed, 1);
    put(world, kind, place, 1);
  }
  return place;
}
