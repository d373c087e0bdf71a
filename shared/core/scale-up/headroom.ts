import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { PoolSpec } from '../settings.ts';
import type { Place, World } from '../simulate/simulated-cluster.ts';

export interface Short {
  readonly why: Reason;
  /** What a machine would give of all that is missing. */
  readonly helps: (machine: Machine) => number;
}

/** What is free at a place of a resource, whether somebody asks for it or not. */
function freeAt(world: World, { index, allocatable }: Place, name: string): number {
  const column = world.columns.get(name);
  return column === undefined ? (allocatable[name] ?? 0) : (world.free[index * world.width + column] ?? 0);
}

/** What a pool lacks of the room it is to keep free, or nothing. */
export function shortOfHeadroom(world: World, { name, headroom }: PoolSpec): Short | undefined {
  const missing = Object.entries(headroom).flatMap(([resource, wanted]): [string, number][] => {
    let free = 0;
    for (const place of world.places)
      if (place.machine?.spec.pool === name && world.closed[place.index] === 0)
        free += Math.max(0, freeAt(world, place, resource));
    return wanted > free ? [[resource, wanted - free]] : [];
  });
  if (missing.length === 0) return undefined;
  const resources = Object.fromEntries(missing.map(([resource]) => [resource, headroom[resource] ?? 0]));
  return {
    why: { code: 'headroom', pool: name, resources },
    helps: ({ spec }) =>
      missing.reduce(
        (sum, [resource, amount]) => sum + Math.min(1, (spec.resources[resource] ?? 0) / amount),
        0,
      ),
  };
}
