import { overdue } from '../../../../shared/core/machine/transition.ts';
import { finish, happen, holds, machineLease } from './store.ts';
import {
  type Fault,
  machineAt,
  modelPool,
  type Rules,
  type Run,
  type Scenario,
  timings,
  type World,
} from './world.ts';

/** A run of a function, as a step sees it. `mishap`: what goes wrong in this step, if anything. */
export interface Turn {
  readonly world: World;
  readonly slot: number;
  readonly run: Run;
  readonly rules: Rules;
  readonly scenario: Scenario;
  readonly mishap?: Fault | undefined;
}

export type Step = (turn: Turn) => void;

export const goOn = ({ run }: Turn, at: string): void => {
  run.at = at;
};
export const end = ({ world, slot }: Turn): void => finish(world, slot);

/** Whoever lost the lease does nothing more. Returns whether it may act. */
export function stillHolds(turn: Turn): boolean {
  const { world, slot, run, rules } = turn;
  if (!rules.checksLease || holds(world, slot, machineLease(run.m))) return true;
  end(turn);
  return false;
}

/** The last step of a run: what it found out becomes an event, or does not. */
export const conclude: Step = (turn) => {
  const { world, slot, run, rules, scenario } = turn;
  if (!run.event) throw new Error('nothing to conclude');
  const begins = 'operation' in run.event ? 'off' : undefined;
  happen(
    world,
    slot,
    run,
    run.m,
    { event: run.event, observed: run.observed, begins, lease: machineLease(run.m) },
    rules,
    scenario.maxNodes,
  );
  end(turn);
};

export const late = ({ world, run, scenario }: Turn) =>
  overdue(machineAt(world, run.m), modelPool(scenario.maxNodes), timings, 0);
