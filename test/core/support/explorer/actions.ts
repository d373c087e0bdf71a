import { begin, mishapOf, takeStep } from './functions.ts';
import {
  type Fault,
  modelMachine,
  passTime,
  type Rules,
  type Scenario,
  setPower,
  type World,
} from './world.ts';

export type Action = readonly [label: string, act: (world: World) => void, fault?: 'fault'];

/** Everything that can happen next. */
export function actions(world: World, scenario: Scenario, rules: Rules): Action[] {
  const can = (fault: Fault): boolean => scenario.faults.includes(fault);
  const list: Action[] = [['time passes', passTime]];
  const free = world.slots.indexOf(null);
  if (free >= 0)
    for (const fn of scenario.functions)
      for (let m = 0; m < (fn === 'evaluate' ? 1 : world.machines.length); m += 1) {
        list.push([`${fn} ${m} begins`, (next) => begin(next, free, fn, m, rules, scenario)]);
        if (fn === 'sweep' && can('unknown reading'))
          list.push([
            `${fn} ${m} begins, power unknown`,
            (next) => begin(next, free, fn, m, rules, scenario, 'unknown reading'),
          ]);
      }
  for (const [slot, run] of world.slots.entries()) {
    if (!run) continue;
    const label = `${slot}: ${run.fn} ${run.m} ${run.at}`;
    list.push([label, (next) => takeStep(next, slot, rules, scenario)]);
    const mishap = mishapOf(run);
    if (mishap && can(mishap))
      list.push([`${label}, ${mishap}`, (next) => takeStep(next, slot, rules, scenario, mishap)]);
    if (can('crash'))
      list.push([
        `${label}: killed before it`,
        (next) => {
          next.slots[slot] = null;
          for (const [lease, holder] of Object.entries(next.leases))
            if (holder === slot) next.leases[lease] = -1;
        },
        'fault',
      ]);
  }
  for (const [lease, holder] of Object.entries(world.leases))
    if (holder === -1 || can('lease lost'))
      list.push([
        `lease ${lease} runs out`,
        (next) => {
          delete next.leases[lease];
        },
        'fault',
      ]);
  for (const [m, one] of world.machines.entries()) {
    if (one.pending) list.push([`machine ${m} obeys ${one.pending}`, (next) => obey(next, m)]);
    if (mayBoot(world, m)) list.push([`node ${m} is Ready`, (next) => boot(next, m)]);
    if (one.node?.ready && (!one.on || can('node flaps')))
      list.push([`node ${m} is lost`, (next) => lose(next, m)]);
    if (can('person'))
      list.push([
        `a person switches ${m} ${one.on ? 'off' : 'on'}`,
        (next) => setPower(next, m, !one.on),
        'fault',
      ]);
  }
  for (const [index, where] of world.pods.entries()) {
    if (can('pods come and go'))
      list.push([
        `pod ${index} ${where === 'none' ? 'comes' : 'goes'}`,
        (next) => {
          next.pods[index] = where === 'none' ? 'waiting' : 'none';
        },
      ]);
    if (where === 'waiting')
      for (const m of placesFor(world, index, scenario))
        list.push([
          `pod ${index} runs on ${m}`,
          (next) => {
            next.pods[index] = m;
          },
        ]);
  }
  return list;
}

export const mayBoot = (world: World, m: number): boolean => {
  const { on, node } = modelMachine(world, m);
  return on && !(node?.ready && node.boot === 0);
};

export function boot(world: World, m: number): void {
  const one = modelMachine(world, m);
  one.node = { ready: true, cordoned: one.node?.cordoned ?? false, boot: 0 };
}

export function lose(world: World, m: number): void {
  const { node } = modelMachine(world, m);
  if (node) node.ready = false;
}

export function obey(world: World, m: number): void {
  const one = modelMachine(world, m);
  setPower(world, m, one.pending === 'on');
  delete one.pending;
}

export const placesFor = (world: World, index: number, scenario: Scenario): number[] =>
  (scenario.pods[index] ?? []).filter((m) => {
    const node = world.machines[m]?.node;
    return node?.ready && !node.cordoned && !world.pods.includes(m);
  });
