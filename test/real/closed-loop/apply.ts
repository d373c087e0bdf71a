import type { V1Node } from '@kubernetes/client-node';
import type { ClusterView } from '../../../shared/core/cluster/cluster.ts';
import { type Considered, decide } from '../../../shared/core/decide/decide.ts';
import { defaultSettings, type Settings } from '../../../shared/core/settings.ts';
import { daemonPodsOn, machineState, nodeOf, type OwnMachine, pools } from './fleet.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

/** Longer than the scheduler's pause after a refusal: what has not changed for so long does not change by itself. */
export const calmMs = 1300;
/** Before a decision it need not be over: evaluations come when they come. */
export const briefMs = 150;

/** The machines that are on: each of them is a node. */
export type On = Set<OwnMachine>;

interface Circumstances {
  readonly settings: Settings;
  /** Since when the machines that are on serve. */
  readonly serving: 'lately' | 'long';
}

export function decideOn(
  { serving, off }: Workload,
  on: On,
  cluster: ClusterView,
  circumstances: Circumstances = { settings: defaultSettings, serving: 'lately' },
): Considered {
  const now = Date.now();
  const machines = [...serving, ...off].map((machine) =>
    machineState(machine.spec, on.has(machine) ? circumstances.serving : 'off', now),
  );
  return decide({ machines, pools, settings: circumstances.settings, cluster }, now);
}

/** Every machine that the decision powers on becomes a node. Says how many these are. */
export async function powerOn(
  stage: Stage,
  workload: Workload,
  on: On,
  { intents }: Considered,
): Promise<number> {
  const known = new Map(
    [...workload.serving, ...workload.off].map((machine) => [machine.spec.name, machine]),
  );
  const started = intents.map(({ kind, machine: name }) => {
    const machine = known.get(name);
    if (kind !== 'power-on' || !machine || on.has(machine))
      throw new Error(`${workload.name}: did not expect to ${kind} ${name}`);
    return machine;
  });
  await join(stage, workload, started);
  for (const machine of started) on.add(machine);
  return started.length;
}

/** Machines become nodes as they do in a cluster: the pods of DaemonSets are there before others may come. */
export async function join(stage: Stage, workload: Workload, machines: readonly OwnMachine[]): Promise<void> {
  const nodes: V1Node[] = machines.map(nodeOf);
  await stage.create({ nodes, pods: machines.flatMap((machine) => daemonPodsOn(workload.daemons, machine)) });
  if (!workload.staggered) return stage.open(nodes);
  await stage.open(nodes.filter((_, index) => index % 2 === 0));
  await stage.settled(briefMs);
  await stage.open(nodes.filter((_, index) => index % 2 === 1));
}
