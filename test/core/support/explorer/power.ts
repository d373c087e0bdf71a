import { stepOf } from '../../../../shared/core/machine/lifecycle.ts';
import { nextPowerStep } from '../../../../shared/core/machine/power-step.ts';
import { operation } from '../builders.ts';
import { acquire, holds, machineLease, observe, touch, Violation } from './store.ts';
import { conclude, end, goOn, late, type Step, stillHolds } from './turn.ts';
import { machineAt, modelMachine, podsOn, timings } from './world.ts';

/** power-action: reads the BMC, lets the core say the next step, writes a command down, sends it. */
export const power: Record<string, Step> = {
  begin: (turn) => {
    const { world, slot, run } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    goOn(turn, 'look');
  },
  look: (turn) => {
    const { world, slot, run, mishap } = turn;
    if (!holds(world, slot, machineLease(run.m))) return end(turn);
    const one = modelMachine(world, run.m);
    run.stale = [];
    if (stepOf(machineAt(world, run.m)) !== 'power-action' || !one.status.operation || !one.goal)
      return end(turn);
    const due = late(turn);
    if (due) {
      run.event = due;
      run.observed = { powerState: run.power ?? 'unknown' };
      return goOn(turn, 'conclude');
    }
    const seen = mishap === 'unknown reading' ? 'unknown' : one.on ? 'on' : 'off';
    run.times = seen === run.power ? 2 : 1;
    run.power = seen;
    const next = nextPowerStep(
      operation(one.goal, { commands: one.commands }),
      { power: seen, times: run.times },
      {
        softOff: true,
        hardOff: true,
        ...(turn.rules.mindsPendingOff && { pendingOff: one.status.pendingOff }),
      },
      timings,
      0,
    );
    if (next.kind === 'reached') {
      if (one.goal === 'on' && one.pending && one.pending !== 'on')
        throw new Violation(`machine ${run.m} is taken to be on while an off is pending`);
      run.event = { type: seen === 'on' ? 'powered-on' : 'powered-off' };
      run.observed = { powerState: seen };
      goOn(turn, 'conclude');
    } else if (next.kind === 'command') {
      run.verb = next.verb;
      goOn(turn, 'record');
    } else observe(world, run, run.m, { powerState: seen });
  },
  record: (turn) => {
    const { world, slot, run, rules } = turn;
    const one = modelMachine(world, run.m);
    const verb = run.verb ?? 'on';
    delete run.power;
    delete run.times;
    if (run.stale.includes(run.m) || (rules.fence && !holds(world, slot, machineLease(run.m)))) {
      delete run.verb;
      return goOn(turn, 'look');
    }
    one.commands = [...one.commands, { verb, at: 0 }];
    one.status = { ...one.status, pendingOff: verb === 'on' ? undefined : { verb, at: 0 } };
    touch(world, run.m);
    if (
      verb !== 'on' &&
      podsOn(world, run.m) > 0 &&
      (one.status.drain?.podsLeft === 0 || one.status.nodeReady)
    )
      throw new Violation(`machine ${run.m} is to be powered off while a pod runs on it`);
    run.age = 0;
    goOn(turn, 'send');
  },
  send: (turn) => {
    const { world, run, mishap } = turn;
    if (!stillHolds(turn)) return;
    const one = modelMachine(world, run.m);
    const verb = run.verb ?? 'on';
    if (run.age !== 0 && (verb === 'on') !== (one.goal === 'on'))
      throw new Violation(`machine ${run.m} is told ${verb} after a later operation began`);
    if (verb !== 'on' && podsOn(world, run.m) > 0 && one.status.drain?.podsLeft === 0)
      throw new Violation(`machine ${run.m} is powered off while a pod runs on it`);
    if (verb === 'on' && one.pending && one.pending !== 'on')
      throw new Violation(`machine ${run.m} is told to power on while an off is pending`);
    if (mishap !== 'command without effect') {
      if ((verb === 'on') === one.on) delete one.pending;
      else one.pending = verb;
    }
    delete run.verb;
    delete run.age;
    goOn(turn, 'look');
  },
  conclude,
};
