import { capacityOf, stepOf } from '../../../../shared/core/machine/lifecycle.ts';
import { acquire, holds, machineLease, observe } from './store.ts';
import { conclude, end, goOn, late, type Step, stillHolds } from './turn.ts';
import { machineAt, modelMachine, podsOn, type World } from './world.ts';

/** drain-node: cordons, lists, evicts, until nobody is left or the time is up. */
export const drain: Record<string, Step> = {
  begin: (turn) => {
    const { world, slot, run } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    goOn(turn, 'read');
  },
  read: (turn) => {
    const { world, slot, run, rules } = turn;
    const { node: real } = modelMachine(world, run.m);
    if (!holds(world, slot, machineLease(run.m))) return end(turn);
    if (stepOf(machineAt(world, run.m)) !== 'drain-node')
      return isToBeReleased(world, run.m) ? goOn(turn, 'release') : end(turn);
    run.stale = [];
    const due = late(turn);
    if (due) {
      run.event = due;
      return goOn(turn, real?.cordoned ? 'uncordon' : 'conclude');
    }
    if (!rules.cordonsFirst) run.observed = { drain: { podsLeft: podsOn(world, run.m), podsTotal: 0 } };
    goOn(turn, real && !real.cordoned ? 'cordon' : 'list');
  },
  cordon: (turn) => {
    if (!stillHolds(turn)) return;
    const { node: real } = modelMachine(turn.world, turn.run.m);
    if (real) real.cordoned = true;
    goOn(turn, 'list');
  },
  list: (turn) => {
    const { world, run, rules } = turn;
    if (rules.cordonsFirst) run.observed = { drain: { podsLeft: podsOn(world, run.m), podsTotal: 0 } };
    // Without the guards nobody else counts.
    if (run.observed?.drain?.podsLeft === 0 || !rules.guards) {
      run.event = { type: 'drained' };
      return goOn(turn, 'conclude');
    }
    observe(world, run, run.m, run.observed ?? {});
    delete run.observed;
    goOn(turn, 'evict');
  },
  evict: (turn) => {
    if (!stillHolds(turn)) return;
    const { world, run, mishap } = turn;
    if (mishap !== 'eviction blocked')
      world.pods = world.pods.map((where) => (where === run.m ? 'waiting' : where));
    goOn(turn, 'read');
  },
  uncordon: (turn) => {
    if (!stillHolds(turn)) return;
    const { node: real } = modelMachine(turn.world, turn.run.m);
    if (real) real.cordoned = false;
    goOn(turn, 'conclude');
  },
  release: (turn) => {
    if (!stillHolds(turn)) return;
    const { node: real } = modelMachine(turn.world, turn.run.m);
    if (real) real.cordoned = false;
    end(turn);
  },
  conclude,
};

/** Its drain was called off by an evaluation, which cannot uncordon it. */
export const isToBeReleased = (world: World, m: number): boolean =>
  capacityOf(machineAt(world, m)) === 'serving' && modelMachine(world, m).node?.cordoned === true;
