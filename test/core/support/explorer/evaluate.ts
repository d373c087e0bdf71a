import { decide } from '../../../../shared/core/decide/decide.ts';
import { acquire, happen } from './store.ts';
import { end, goOn, type Step } from './turn.ts';
import { machineAt, modelPool, modelSettings, nodesOf, podsOf } from './world.ts';

/** evaluate-scaling: looks and decides in one step, then writes one intent after the other. */
export const evaluate: Record<string, Step> = {
  begin: (turn) => {
    const { world, slot, run, scenario } = turn;
    if (!acquire(world, slot, 'evaluate')) return end(turn);
    const decision = decide(
      {
        machines: world.machines.map((_, m) => machineAt(world, m)),
        pools: [modelPool(scenario.maxNodes)],
        settings: modelSettings,
        cluster: { nodes: nodesOf(world), pods: podsOf(world, scenario.pods) },
      },
      0,
    );
    run.intents = decision.intents.map(({ kind, machine }) => ({ kind, m: Number(machine.slice(1)) }));
    if (run.intents.length === 0) return end(turn);
    goOn(turn, 'write');
  },
  write: (turn) => {
    const { world, slot, run, rules, scenario } = turn;
    const [intent, ...rest] = run.intents ?? [];
    if (!intent) throw new Error('nothing to write');
    const on = intent.kind === 'power-on';
    const cancels = intent.kind === 'cancel-drain';
    happen(
      world,
      slot,
      run,
      intent.m,
      {
        event: cancels
          ? { type: 'drain-aborted', why: 'needed after all' }
          : { type: on ? 'power-on-requested' : 'drain-requested', operation: 'op' },
        begins: cancels ? undefined : on ? 'on' : 'off',
        lease: 'evaluate',
      },
      rules,
      scenario.maxNodes,
    );
    run.intents = rest;
    if (rest.length === 0) end(turn);
  },
};
