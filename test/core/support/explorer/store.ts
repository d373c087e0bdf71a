import type { MachineEvent } from '../../../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../../../shared/core/machine/machine.ts';
import { transition } from '../../../../shared/core/machine/transition.ts';
import { machineAt, modelMachine, type Rules, type Run, timings, type World } from './world.ts';

/** Something that must never be. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export const machineLease = (m: number): string => `machine-${m}`;

export const holds = (world: World, slot: number, lease: string): boolean => world.leases[lease] === slot;

export function acquire(world: World, slot: number, lease: string): boolean {
  if (world.leases[lease] !== undefined) return false;
  world.leases[lease] = slot;
  return true;
}

/** The run is over and gives back what it holds. */
export function finish(world: World, slot: number): void {
  world.slots[slot] = null;
  for (const [lease, holder] of Object.entries(world.leases)) if (holder === slot) delete world.leases[lease];
}

/** Everybody who read the machine before holds an old revision now. */
export function touch(world: World, m: number): void {
  for (const run of world.slots)
    if (run && !run.stale.includes(m) && (run.fn === 'evaluate' || run.m === m))
      run.stale = [...run.stale, m].sort();
}

export interface Happening {
  readonly event: MachineEvent;
  readonly observed?: Partial<MachineStatus> | undefined;
  readonly begins?: 'on' | 'off' | undefined;
  readonly lease: string;
}

/** Lets an event happen: one compare-and-swap, fenced by the lease. */
export function happen(
  world: World,
  slot: number,
  run: Run,
  m: number,
  { event, observed, begins, lease }: Happening,
  rules: Rules,
  maxNodes: number,
): boolean {
  if (run.stale.includes(m) || (rules.fence && !holds(world, slot, lease))) return false;
  const before = machineAt(world, m);
  const believed = rules.guards ? {} : { drain: { podsLeft: 0, podsTotal: 0 } };
  const result = transition(
    { ...before, status: { ...before.status, ...observed, ...believed } },
    event,
    0,
    timings,
  );
  if (!result.ok) return false;
  const one = modelMachine(world, m);
  if (begins) {
    if (before.status.operation !== undefined) throw new Violation(`two operations at once on machine ${m}`);
    one.goal = begins;
    one.commands = [];
    if (begins === 'on') one.ordered = true;
    for (const other of world.slots) if (other?.age !== undefined && other.m === m) other.age = 1;
  }
  one.status = result.status;
  if (result.status.state === 'off' || result.status.state === 'error') one.ordered = false;
  if (world.machines.filter(({ ordered }) => ordered).length > maxNodes)
    throw new Violation('more machines were ordered than the pool may have');
  touch(world, m);
  return true;
}

/** Writes down what was seen, if nobody wrote since it was read. */
export function observe(world: World, run: Run, m: number, observed: Partial<MachineStatus>): void {
  if (run.stale.includes(m)) return;
  const one = modelMachine(world, m);
  const known: Partial<Record<string, unknown>> = { ...one.status };
  if (Object.entries(observed).every(([key, value]) => JSON.stringify(known[key]) === JSON.stringify(value)))
    return;
  one.status = { ...one.status, ...observed };
  touch(world, m);
}
