import { type Action, actions } from './actions.ts';
import { type Ends, wrongEnd } from './ends.ts';
import { Violation } from './store.ts';
import { type Rules, right, type Scenario, tidy, type World } from './world.ts';

export interface Explored {
  readonly states: number;
  /** Every world that can be reached was looked at. */
  readonly complete: boolean;
  /** What happened, one line each, until something was wrong. */
  readonly violation?: { readonly what: string; readonly trace: readonly string[] };
  /** Names of what was met at least once, to know that an exploration was worth something. */
  readonly met: ReadonlySet<string>;
}

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
