import { begin, mishapOf, takeStep } from './functions.ts';
import { machineLease, Violation } from './store.ts';
import {
  type Fault,
  modelMachine,
  passTime,
  type Rules,
  type Scenario,
  setPower,
  tidy,
  type World,
} from './world.ts';

export const right: Rules = {
  fence: true,
  checksLease: true,
  readsUnderLease: true,
  cordonsFirst: true,
  guards: true,
};

export interface Explored {
  readonly states: number;
  /** Every world that can be reached was looked at. */
  readonly complete: boolean;
  /** What happened, one line each, until something was wrong. */
  readonly violation?: { readonly what: string; readonly trace: readonly string[] };
  /** Names of what was met at least once, to know that an exploration was worth something. */
  readonly met: ReadonlySet<string>;
}

type Action = readonly [label: string, act: (world: World) => void, fault?: 'fault'];

/** Everything that can happen next. */
function actions(world: World, scenario: Scenario, rules: Rules): Action[] {
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

const mayBoot = (world: World, m: number): boolean => {
  const { on, node } = modelMachine(world, m);
  return on && !(node?.ready && node.boot === 0);
};

function boot(world: World, m: number): void {
  const one = modelMachine(world, m);
  one.node = { ready: true, cordoned: one.node?.cordoned ?? false, boot: 0 };
}

function lose(world: World, m: number): void {
  const { node } = modelMachine(world, m);
  if (node) node.ready = false;
}

function obey(world: World, m: number): void {
  const one = modelMachine(world, m);
  setPower(world, m, one.pending === 'on');
  delete one.pending;
}

const placesFor = (world: World, index: number, scenario: Scenario): number[] =>
  (scenario.pods[index] ?? []).filter((m) => {
    const node = world.machines[m]?.node;
    return node?.ready && !node.cordoned && !world.pods.includes(m);
  });

interface Seen {
  readonly from?: string;
  readonly by: string;
}

/**
 * Breadth first through every world that the actions lead to, until something is wrong, nothing is new, or
 * enough was seen; then at random, to get further from the start. From every world the way without further
 * faults is taken to its end. `watch` names what is worth meeting.
 */
export function explore(
  scenario: Scenario,
  rules: Rules = right,
  watch: (world: World) => readonly string[] = () => [],
): Explored {
  const met = new Set<string>();
  const seen = new Map<string, Seen>();
  const ends: Ends = new Map();
  const queue: string[] = [];
  let violation: Explored['violation'];
  const trace = (key: string | undefined): string[] => {
    const steps: string[] = [];
    for (let at = key; at !== undefined; at = seen.get(at)?.from) steps.unshift(seen.get(at)?.by ?? '');
    return steps;
  };
  const visit = (key: string, how: Seen): void => {
    if (seen.has(key)) return;
    seen.set(key, how);
    const world: World = JSON.parse(key);
    for (const name of watch(world)) met.add(name);
    const what = rules === right ? wrongEnd(world, scenario, ends) : undefined;
    if (what) violation = { what, trace: trace(key) };
  };
  /** Takes one action. Undefined: that broke an invariant. */
  const take = (key: string, [label, act]: Action): string | undefined => {
    const next: World = JSON.parse(key);
    try {
      act(next);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      violation = { what: error.message, trace: [...trace(key), label] };
      return undefined;
    }
    const nextKey = JSON.stringify(tidy(next));
    if (!seen.has(nextKey) && seen.size < scenario.mostStates) queue.push(nextKey);
    visit(nextKey, { from: key, by: label });
    return violation ? undefined : nextKey;
  };
  const result = (complete: boolean): Explored => ({
    states: seen.size,
    complete,
    met,
    ...(violation && { violation }),
  });

  for (const start of scenario.starts) {
    const key = JSON.stringify(tidy(structuredClone(start)));
    queue.push(key);
    visit(key, { by: `start ${queue.length - 1}` });
  }
  for (const key of queue) {
    for (const action of actions(JSON.parse(key), scenario, rules))
      if (take(key, action) === undefined) return result(false);
    if (seen.size >= scenario.mostStates) break;
  }
  if (seen.size < scenario.mostStates) return result(true);

  const random = randomNumbers(scenario.walks);
  for (let walk = 0; walk < scenario.walks; walk += 1) {
    let key = queue[random(scenario.starts.length)] ?? '';
    for (let step = 0; step < walkLength; step += 1) {
      // Too many faults, and nothing gets anywhere.
      const faults = random(8) === 0;
      const choices = actions(JSON.parse(key), scenario, rules).filter(([, , fault]) => faults || !fault);
      const choice = choices[random(choices.length)];
      if (!choice) throw new Error('time can always pass');
      const next = take(key, choice);
      if (next === undefined) return result(false);
      key = next;
    }
  }
  return result(false);
}

const walkLength = 80;

/** The same numbers every time: a violation found once is found again. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The longest that anything takes when nothing goes wrong any more, in ticks. */
const mostTicks = 40;

/** World → what is wrong with where it ends up, or nothing. */
type Ends = Map<string, string | undefined>;

/**
 * Everybody at work is killed, all events are lost, and from now on nothing goes wrong: only ticks, each
 * running every function once. Every operation must come to its end, and every pod to a machine if one is free.
 */
export function wrongEnd(given: World, scenario: Scenario, known: Ends = new Map()): string | undefined {
  const world: World = { ...structuredClone(given), slots: [null], leases: {} };
  const passed: string[] = [];
  const answer = (what: string | undefined): string | undefined => {
    for (const key of passed) known.set(key, what);
    return what;
  };
  let atRest = 0;
  for (let tick = 0; tick < mostTicks; tick += 1) {
    const key = JSON.stringify(tidy(world));
    if (known.has(key)) return answer(known.get(key));
    passed.push(key);
    try {
      goodTick(world, scenario);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return answer(error.message);
    }
    atRest = world.machines.some(({ status }) => status.operation) ? 0 : atRest + 1;
    if (atRest < restTicks) continue;
    const serving = world.machines.filter(({ status }) => status.state === 'ready').length;
    const neglected = world.pods.includes('waiting') && serving < scenario.maxNodes;
    return answer(neglected ? 'a pod waits for ever though a machine is free' : undefined);
  }
  return answer('an operation never ends');
}

/** Longer than any quarantine of the model. */
const restTicks = 5;

function goodTick(world: World, scenario: Scenario): void {
  const complete = (fn: Parameters<typeof begin>[2], m: number): void => {
    begin(world, 0, fn, m, right, scenario);
    for (let step = 0; step < 8 && world.slots[0]; step += 1) takeStep(world, 0, right, scenario);
    world.slots[0] = null;
    delete world.leases[machineLease(m)];
    delete world.leases.evaluate;
  };
  for (const [m, one] of world.machines.entries()) {
    if (one.pending) obey(world, m);
    if (one.node?.ready && !one.on) lose(world, m);
    if (mayBoot(world, m)) boot(world, m);
  }
  for (const index of world.pods.keys()) {
    const [to] = world.pods[index] === 'waiting' ? placesFor(world, index, scenario) : [];
    if (to !== undefined) world.pods[index] = to;
  }
  for (const m of world.machines.keys())
    for (const fn of ['sweep', 'power', 'join', 'drain'] as const) complete(fn, m);
  complete('evaluate', 0);
  passTime(world);
  tidy(world);
}
