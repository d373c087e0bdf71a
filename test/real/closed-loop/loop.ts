import type { ClusterView } from '../../../shared/core/cluster/cluster.ts';
import { briefMs, calmMs, decideOn, join, type On, powerOn } from './apply.ts';
import { drainIdle } from './drain.ts';
import { daemonSetObject } from './objects.ts';
import { broken, promisesOf } from './promises.ts';
import type { Result } from './results.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

/** One workload from its first pod to the drains after it. */
export async function runWorkload(stage: Stage, workload: Workload): Promise<Result> {
  const { name, apps, serving, running, daemons, staggered } = workload;
  await join(stage, workload, serving);
  const pods = apps.flatMap((app) => app.pods);
  await stage.create({
    volumes: apps.flatMap(({ volumes }) => volumes),
    claims: apps.flatMap(({ claims }) => claims),
    daemonSets: daemons.map(daemonSetObject),
    pods: [...running, ...pods],
  });
  const on: On = new Set(serving);
  const before = await stage.settled(briefMs);
  const first = decideOn(workload, on, before);
  const promises = promisesOf(first, before);
  const areKept = (view: ClusterView): boolean => broken(promises, view).length === 0;
  const powerOns = await powerOn(stage, workload, on, first);
  let after = await stage.settled(calmMs, areKept);
  const late = broken(promises, after);

  let never = late;
  let secondPowerOns = 0;
  if (late.length > 0) {
    const second = decideOn(workload, on, after);
    secondPowerOns = await powerOn(stage, workload, on, second);
    after = await stage.settled(calmMs, areKept);
    never = broken(promises, after, second);
  }
  return {
    name,
    staggered,
    pods: pods.length,
    waited: promises.reduce((sum, { waited }) => sum + waited, 0),
    powerOns,
    counted: promises.reduce((sum, { counted }) => sum + counted, 0),
    unmet: first.record.unmet.flatMap(({ pod, pods: alike, why }) => Array(alike).fill({ pod, why })),
    late,
    never,
    secondPowerOns,
    drains: await drainIdle(stage, workload, on),
  };
}
