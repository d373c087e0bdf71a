import { drain } from './drain.ts';
import { evaluate } from './evaluate.ts';
import { join } from './join.ts';
import { power } from './power.ts';
import { sweep } from './sweep.ts';
import type { Step } from './turn.ts';
import type { Fault, Rules, Run, Scenario, World } from './world.ts';

const functions: Record<Run['fn'], Record<string, Step>> = { evaluate, power, drain, join, sweep };

/** What may go wrong in a step, besides a crash before or after it. */
const mishaps: Record<string, Fault> = {
  'power look': 'unknown reading',
  'power send': 'command without effect',
  'sweep begin': 'unknown reading',
  'drain evict': 'eviction blocked',
};

export const mishapOf = ({ fn, at }: Run): Fault | undefined => mishaps[`${fn} ${at}`];

/** One step of the run in a slot. */
export function takeStep(
  world: World,
  slot: number,
  rules: Rules,
  scenario: Scenario,
  mishap?: Fault | undefined,
): void {
  const run = world.slots[slot];
  if (!run) throw new Error(`nobody is in slot ${slot}`);
  const step = functions[run.fn][run.at];
  if (!step) throw new Error(`${run.fn} has no step ${run.at}`);
  step({ world, slot, run, rules, scenario, mishap });
}

/** Begins a run in a free slot and takes its first step. */
export function begin(
  world: World,
  slot: number,
  fn: Run['fn'],
  m: number,
  rules: Rules,
  scenario: Scenario,
  mishap?: Fault | undefined,
): void {
  world.slots[slot] = { fn, m, at: 'begin', stale: [] };
  takeStep(world, slot, rules, scenario, mishap);
}
