import type { Node } from '../../../../shared/core/cluster.ts';
import { decide } from '../../../../shared/core/decide.ts';
import { lifecycle, type MachineEvent, stepOf } from '../../../../shared/core/lifecycle.ts';
import { isLeftOver, matchNode } from '../../../../shared/core/match.ts';
import { nextPowerStep } from '../../../../shared/core/power-step.ts';
import { surprise } from '../../../../shared/core/recover.ts';
import { overdue } from '../../../../shared/core/transition.ts';
import { node, operation } from '../builders.ts';
import { acquire, finish, happen, holds, machineLease, observe, touch, Violation } from './store.ts';
import {
  type Fault,
  machineAt,
  modelMachine,
  modelPool,
  modelSettings,
  nodesOf,
  podsOf,
  podsOn,
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

type Step = (turn: Turn) => void;

const goOn = ({ run }: Turn, at: string): void => {
  run.at = at;
};
const end = ({ world, slot }: Turn): void => finish(world, slot);

/** Whoever lost the lease does nothing more. Returns whether it may act. */
function stillHolds(turn: Turn): boolean {
  const { world, slot, run, rules } = turn;
  if (!rules.checksLease || holds(world, slot, machineLease(run.m))) return true;
  end(turn);
  return false;
}

/** The last step of a run: what it found out becomes an event, or does not. */
const conclude: Step = (turn) => {
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

const late = ({ world, run, scenario }: Turn) =>
  overdue(machineAt(world, run.m), modelPool(scenario.maxNodes), timings, 0);

// ── evaluate-scaling: look and decide in one step, then write one intent after the other ─────────

const evaluate: Record<string, Step> = {
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
    happen(
      world,
      slot,
      run,
      intent.m,
      {
        event: { type: on ? 'power-on-requested' : 'drain-requested', operation: 'op' },
        begins: on ? 'on' : 'off',
        lease: 'evaluate',
      },
      rules,
      scenario.maxNodes,
    );
    run.intents = rest;
    if (rest.length === 0) end(turn);
  },
};

// ── power-action: read the BMC, let the core say the next step, write a command down, send it ────

const power: Record<string, Step> = {
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
      timings,
      0,
    );
    if (next.kind === 'reached') {
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

// ── drain-node: cordon, list, evict, until nobody is left or the time is up ──────────────────────

const drain: Record<string, Step> = {
  begin: (turn) => {
    const { world, slot, run } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    goOn(turn, 'read');
  },
  read: (turn) => {
    const { world, slot, run, rules } = turn;
    const { node: real } = modelMachine(world, run.m);
    if (!holds(world, slot, machineLease(run.m)) || stepOf(machineAt(world, run.m)) !== 'drain-node')
      return end(turn);
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
  conclude,
};

// ── join-watcher: read without a lease, then act under it ────────────────────────────────────────

/** What the run saw of the node when it began, whatever became of it since. */
const nodeSeen = ({ run }: Turn): Node | undefined =>
  run.observed?.kubernetesNode === undefined
    ? undefined
    : node(run.observed.kubernetesNode, {
        ready: run.observed.nodeReady === true,
        bootID: run.observed.bootID,
      });

/** What the watcher makes of a machine and the node it saw. */
function joinEvent(turn: Turn): MachineEvent | undefined {
  const machine = machineAt(turn.world, turn.run.m);
  const { state, lastError, retryAt } = machine.status;
  const { on, step } = lifecycle[state];
  const seen = nodeSeen(turn);
  const mayReturn = lastError?.code !== 'power-off-failed' || (retryAt ?? 0) <= 0;
  if (seen?.ready && !isLeftOver(machine, seen) && on.joined && mayReturn)
    return { type: 'joined', node: seen.name };
  return step === 'join-watcher' ? late(turn) : undefined;
}

const join: Record<string, Step> = {
  begin: (turn) => {
    const { world, run } = turn;
    const machine = machineAt(world, run.m);
    const { status } = machine;
    const found = matchNode(machine, nodesOf(world))?.node;
    run.uncordon = found?.unschedulable === true;
    run.observed = { kubernetesNode: found?.name, nodeReady: found?.ready, bootID: found?.bootID };
    const atRest =
      status.powerState === 'off' && status.operation === undefined && !lifecycle[status.state].step;
    if (found && atRest && (!found.ready || run.uncordon)) return goOn(turn, 'remove');
    run.event = joinEvent(turn);
    if (run.event) return goOn(turn, 'prepare');
    if (status.kubernetesNode === found?.name && status.nodeReady === found?.ready) return end(turn);
    goOn(turn, 'observe');
  },
  remove: (turn) => {
    const { world, run } = turn;
    delete modelMachine(world, run.m).node;
    world.pods = world.pods.map((where) => (where === run.m ? 'waiting' : where));
    observe(world, run, run.m, { kubernetesNode: undefined, nodeReady: undefined });
    end(turn);
  },
  prepare: (turn) => {
    const { world, slot, run, rules } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    if (rules.readsUnderLease) {
      run.stale = [];
      run.event = joinEvent(turn);
    }
    if (!run.event) return end(turn);
    if (run.event.type === 'joined') return goOn(turn, 'change');
    delete run.observed;
    goOn(turn, 'conclude');
  },
  change: (turn) => {
    if (!stillHolds(turn)) return;
    const { node: real } = modelMachine(turn.world, turn.run.m);
    if (!real) return end(turn);
    if (turn.run.uncordon) real.cordoned = false;
    goOn(turn, 'conclude');
  },
  observe: (turn) => {
    observe(turn.world, turn.run, turn.run.m, {
      kubernetesNode: turn.run.observed?.kubernetesNode,
      nodeReady: turn.run.observed?.nodeReady,
    });
    end(turn);
  },
  conclude,
};

// ── the sweep: look at machines nobody operates on, adopt what is found ──────────────────────────

const sweep: Record<string, Step> = {
  begin: (turn) => {
    const { world, run, mishap } = turn;
    const machine = machineAt(world, run.m);
    if (stepOf(machine) === 'power-action' && machine.status.operation) return end(turn);
    run.power = mishap === 'unknown reading' ? 'unknown' : modelMachine(world, run.m).on ? 'on' : 'off';
    if (surprise(machine, run.power, 'op', 0)) return goOn(turn, 'adopt');
    if (machine.status.powerState === run.power) return end(turn);
    goOn(turn, 'observe');
  },
  adopt: (turn) => {
    const { world, slot, run } = turn;
    if (!acquire(world, slot, machineLease(run.m))) return end(turn);
    run.stale = [];
    const event = surprise(machineAt(world, run.m), run.power ?? 'unknown', 'op', 0);
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
