import { misfitOn } from '../decide/explain-unmet.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import type { Want } from '../decide/signals/demand-signals.ts';
import type { Minimum } from '../limits/windows.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { distinct, type Reason } from '../reasons/reason.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, kindOf, type Place, type World } from '../simulate/simulated-cluster.ts';
import type { Chooser } from './chooser.ts';
import { type Chosen, preferred, retake } from './greedy.ts';
import { shortOfHeadroom } from './headroom.ts';
import { type Box, head, type Shelf } from './machine-groups.ts';
import { fitted } from './on-demand.ts';
import { type Option, scoresOf } from './policies.ts';
import { nothing } from './try-machine.ts';

export interface Wanted {
  readonly chosen: readonly WantedMachine[];
  readonly wants: readonly Reason[];
  /** What could not be had. */
  readonly unmet: readonly Reason[];
}

export interface WantedMachine {
  readonly chosen: Chosen;
  readonly place: Place;
  readonly why: Reason;
}

/** What is on its way for others already: chosen for pods, or left on for them. */
export interface Underway {
  readonly chosen: readonly Chosen[];
  readonly cancelled: readonly Machine[];
}

/** Machines that no pod waits for: minimums and schedules, triggers, pressure; headroom where that is asked for. */
export function chooseWanted(
  chooser: Chooser,
  situation: Situation,
  { chosen: already, cancelled }: Underway,
  minimums: ReadonlyMap<string, Minimum>,
  others: readonly Want[],
  headroom: boolean,
): Wanted {
  const { world } = chooser;
  const chosen: WantedMachine[] = [];
  const wants: Reason[] = [];
  const unmet: Reason[] = [];
  const take = (want: Want, served: (machine: Machine) => number = () => 0): boolean => {
    wants.push(want.why);
    const one = pick(chooser, world, want, served);
    if (one) chosen.push({ ...one, why: want.why });
    else unmet.push({ code: 'no-machine-for', want: want.why });
    return one !== undefined;
  };
  const coming = (pool: PoolSpec): number =>
    [...already, ...chosen.map((one) => one.chosen)].filter(({ machine }) => machine.spec.pool === pool.name)
      .length;
  const own = situation.pools.filter(({ managedBy }) => managedBy === 'bamel');
  for (const pool of own) {
    const minimum = minimums.get(pool.name);
    if (!minimum) continue;
    const there =
      (situation.members.get(pool.name) ?? []).filter((machine) =>
        ['coming', 'serving'].includes(capacityOf(machine)),
      ).length + cancelled.filter(({ spec }) => spec.pool === pool.name).length;
    for (let missing = minimum.nodes - there - coming(pool); missing > 0; missing -= 1)
      if (!take({ pool: pool.name, why: minimum.why })) break;
  }
  // One machine on its way is help for everything that asks for one.
  for (const want of others) {
    const pool = want.pool === undefined ? undefined : situation.poolOf.get(want.pool);
    if (pool ? coming(pool) === 0 : already.length + chosen.length === 0) take(want);
  }
  for (const pool of headroom ? own : [])
    for (;;) {
      const short = shortOfHeadroom(world, pool);
      if (!short || !take({ pool: pool.name, why: short.why }, short.helps)) break;
    }
  return { chosen, wants: distinct(wants), unmet: distinct(unmet) };
}

interface Choice extends Option {
  readonly box: Box;
}

function pick(
  chooser: Chooser,
  world: World,
  { pool, pressure, pods = [] }: Want,
  served: (machine: Machine) => number,
): Omit<WantedMachine, 'why'> | undefined {
  const choices: Choice[] = [];
  const kinds = new Set(pods.map((pod) => kindOf(world, pod)));
  const mayHost = (machine: Machine): boolean =>
    kinds.size === 0 || [...kinds].some((kind) => misfitOn(world, kind, machine) === undefined);
  for (const shelf of chooser.shelves) {
    // One more is wanted, not a larger one.
    if ((pool !== undefined && shelf.pool.name !== pool) || shelf.make?.lending?.grows) continue;
    for (const box of shelf.boxes) {
      const machine = offered(world, shelf, box);
      if (
        machine &&
        chooser.room.refusal(machine.spec) === undefined &&
        mayHost(shelf.make ? shelf.example : machine)
      )
        choices.push({ ...nothing, served: served(machine), machine, pool: shelf.pool, box });
    }
  }
  const surroundings = { ...chooser.surroundings, pressure };
  const choice = preferred(choices, { ...chooser, surroundings });
  if (!choice) return undefined;
  const place = addMachine(world, choice.machine);
  const score = scoresOf(choice, chooser.policiesOf(choice.pool), surroundings);
  return { chosen: retake(chooser, { machine: choice.machine, box: choice.box, pods: 0, score }), place };
}

/** One that is made for nobody in particular is made as small as may be. */
function offered(world: World, { make }: Shelf, box: Box): Machine | undefined {
  const machine = head(box);
  return machine && make ? fitted(world, make, machine, nothing, []) : machine;
}
