import { subtract } from '../cluster/resources.ts';
import { cost, type Room } from '../limits/room.ts';
import type { Machine, MachineSpec } from '../machine/machine.ts';
import { head, type Shelf } from '../scale-up/machine-groups.ts';
import type { Lending } from '../scale-up/maker.ts';
import { fitted, gpu, sizeAt } from '../scale-up/on-demand.ts';
import { type Demand, type Fill, nothing, tryFill } from '../scale-up/try-machine.ts';
import type { Place, World } from '../simulate/simulated-cluster.ts';
import { hourlyPrice } from './offer.ts';
import { rounding } from './slice-rules.ts';

/** Resources by the name that they have in a size. */
const names = { cpu: 'cpu', memory: 'memory', gpu, pods: 'pods' } as const;

/** What there must be room for, at least: a slice may be as small as its pool allows, and grow by a little. */
export function leastOf({ make }: Shelf, machine: Machine): MachineSpec {
  if (!make?.lending) return machine.spec;
  return make.lending.grows
    ? { ...machine.spec, resources: {}, pricing: {} }
    : make.ofSize(machine, make.least).spec;
}

/**
 * What a slice would hold, and how large it would be: no larger than what is left of the offer and of the limits, no
 * dearer than what is left of the budget, and then cut to what it holds.
 */
export function trySlice(world: World, shelf: Shelf, lending: Lending, room: Room, demand: Demand): Fill {
  const { make, boxes } = shelf;
  const next = boxes[0] && head(boxes[0]);
  if (!make || !next) return nothing;
  const { offer, most, grows } = lending;
  const has = grows?.machine.spec;
  const bound = (of: keyof typeof names): number => {
    const more = (has?.resources[names[of]] ?? 0) + room.left(next.spec, names[of]);
    return Math.max(make.least[of] ?? 0, Math.min(most[of] ?? 0, more));
  };
  const largest = make.ofSize(next, {
    cpu: bound('cpu'),
    memory: bound('memory'),
    gpu: bound('gpu'),
    pods: bound('pods'),
  });
  const paid = has?.pricing?.hourlyRate ?? 0;
  const budget = room.left(next.spec, cost);
  const affords = (place: Place): boolean => {
    const { spec } = make.ofSize(largest, sizeAt(world, place, make, largest));
    return hourlyPrice(offer.price, spec.resources) - paid <= budget + rounding;
  };
  const fill = tryFill(world, shelf, largest, demand, Number.isFinite(budget) ? affords : undefined);
  const machine = fitted(world, make, largest, fill, demand.groups);
  return { ...fill, slice: { machine, addition: has && additionTo(has, machine.spec) } };
}

/** What is added to a slice that grows, as if it were one. */
const additionTo = (before: MachineSpec, after: MachineSpec): MachineSpec => ({
  ...after,
  resources: subtract(after.resources, before.resources),
  pricing: {
    hourlyRate: Math.max(0, (after.pricing?.hourlyRate ?? 0) - (before.pricing?.hourlyRate ?? 0)),
  },
});
