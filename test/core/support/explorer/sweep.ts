import { stepOf } from '../../../../shared/core/machine/lifecycle.ts';
import { unexpectedChange } from '../../../../shared/core/machine/observed-power.ts';
import { acquire, machineLease, observe } from './store.ts';
import { conclude, end, goOn, type Step } from './turn.ts';
import { machineAt, modelMachine } from './world.ts';

/** power-action for machines that nobody operates on: looks, and adopts what it finds. */
export const sweep: Record<string, Step> = {
  begin: (turn) => {
    const { world, run, mishap } = turn;
    const machine = machineAt(world, run.m);
    if (stepOf(machine) === 'power-action' && machine.status.operation) return end(turn);
    run.power = mishap === 'unknown reading' ? 'unknown' : modelMachine(world, run.m).on ? 'on' : 'off';
    if (unexpectedChange(machine, { power: run.power }, 'op', 0)) return goOn(turn, 'adopt');
    if (machine.status.powerState === run.power) return end(turn);
    goOn(turn, 'observe');
  },
  adopt: (turn) => {
    const { world, slot, run } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    run.stale = [];
    const event = unexpectedChange(machineAt(world, run.m), { power: run.power ?? 'unknown' }, 'op', 0);
    if (!event) return end(turn);
    run.event = event;
    run.observed = { powerState: run.power ?? 'unknown' };
    goOn(turn, 'conclude');
  },
  observe: (turn) => {
    observe(turn.world, turn.run, turn.run.m, { powerState: turn.run.power ?? 'unknown' });
    end(turn);
  },
  conclude,
};
