import type { V1Node } from '@kubernetes/client-node';
import type { ClusterView } from '../../../shared/core/cluster.ts';
import { type Considered, decide } from '../../../shared/core/decide.ts';
import type { Machine } from '../../../shared/core/machine.ts';
import { defaultSettings } from '../../../shared/core/settings.ts';
import { drainIdle } from './drain.ts';
import { daemonPodsOn, machineState, nodeOf, type OwnMachine, pools } from './fleet.ts';
import { daemonSetObject } from './objects.ts';
import { broken, promisesOf } from './promises.ts';
import type { Result } from './results.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

/** Longer than the scheduler's pause after a refusal. */
const calmMs = 1300;
/** Before a decision it need not be over: evaluations come when they come. */
const briefMs = 150;

/** One workload from its first pod to the drains after it. */
export async function runWorkload(stage: Stage, workload: Workload): Promise<Result> {
  const { apps, serving, running, daemons } = workload;
  await join(stage, workload, serving);
  const pods = apps.flatMap((app) => app.pods);
  await stage.create({
    volumes: apps.flatMap(({ volumes }) => volumes),
    claims: apps.flatMap(({ claims }) => claims),
    daemonSets: daemons.map(daemonSetObject),
    pods: [...running, ...pods],
  });
  const on = new Set(serving);
  const before = await stage.settled(briefMs);
  const first = decideOn(workload, on, before);
  const promises = promisesOf(first, before);
  const areKept = (view: ClusterView): boolean => broken(promises, view).length === 0;
  const started = await carryOut(stage, workload, on, first);
  let after = await stage.settled(calmMs, areKept);
  const late = broken(promises, after);

  let never = late;
  let secondPowerOns = 0;
  if (late.length > 0) {
    const second = decideOn(workload, on, after);
    secondPowerOns = (await carryOut(stage, workload, on, second)).length;
    after = await stage.settled(calmMs, areKept);
    never = broken(promises, after, second);
  }
  return {
    name: workload.name,
    staggered: workload.staggered,
    pods: pods.length,
    waited: promises.reduce((sum, { waited }) => sum + waited, 0),
    powerOns: started.length,
    counted: promises.reduce((sum, { counted }) => sum + counted, 0),
    unmet: first.record.unmet.reduce((sum, one) => sum + one.pods, 0),
    late,
    never,
    secondPowerOns,
    drains: await drainIdle(stage, workload, on),
  };
}

function decideOn(workload: Workload, on: ReadonlySet<OwnMachine>, cluster: ClusterView): Considered {
  const now = Date.now();
  const machines = [...workload.serving, ...workload.off].map(
    (machine): Machine => machineState(machine.spec, on.has(machine) ? 'lately' : 'off', now),
  );
  return decide({ machines, pools, settings: defaultSettings, cluster }, now);
}

async function carryOut(
  stage: Stage,
  workload: Workload,
  on: Set<OwnMachine>,
  { intents }: Considered,
): Promise<OwnMachine[]> {
  const named = new Map(workload.off.map((machine) => [machine.spec.name, machine]));
  const started = intents.map(({ kind, machine }) => {
    const known = named.get(machine);
    if (kind !== 'power-on' || !known)
      throw new Error(`${workload.name}: did not expect to ${kind} ${machine}`);
    return known;
  });
  await join(stage, workload, started, workload.staggered);
  for (const machine of started) on.add(machine);
  return started;
}

/** Machines become nodes as they do in a cluster: the pods of DaemonSets are there before others may come. */
async function join(
  stage: Stage,
  { daemons }: Workload,
  machines: readonly OwnMachine[],
  staggered = false,
): Promise<void> {
  const nodes: V1Node[] = machines.map(nodeOf);
  await stage.create({ nodes, pods: machines.flatMap((machine) => daemonPodsOn(daemons, machine)) });
  const early = staggered ? nodes.filter((_, index) => index % 2 === 0) : nodes;
  await stage.open(early);
  if (!staggered) return;
  await stage.settled(briefMs);
  await stage.open(nodes.filter((_, index) => index % 2 === 1));
}
