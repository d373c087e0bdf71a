import { boot, lose, mayBoot, obey, placesFor } from './actions.ts';
import { begin, takeStep } from './functions.ts';
import { machineLease, Violation } from './store.ts';
import { passTime, right, type Scenario, tidy, type World } from './world.ts';

/** The longest that anything takes when nothing goes wrong any more, in ticks. */
const mostTicks = 40;

/** World → what is wrong with where it ends up, or nothing. */
export type Ends = Map<string, string | undefined>;

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
