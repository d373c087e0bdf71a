import type { Node } from '../../../../shared/core/cluster/cluster.ts';
import { isLeftOver, matchNode } from '../../../../shared/core/cluster/match.ts';
import { lifecycle, type MachineEvent } from '../../../../shared/core/machine/lifecycle.ts';
import { node } from '../builders.ts';
import { acquire, machineLease, observe } from './store.ts';
import { conclude, end, goOn, late, type Step, stillHolds, type Turn } from './turn.ts';
import { machineAt, modelMachine, nodesOf } from './world.ts';

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

/** join-watcher: looks without a lease, then looks again and acts under it. */
export const join: Record<string, Step> = {
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
