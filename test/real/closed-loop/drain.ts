import type { V1Pod } from '@kubernetes/client-node';
import { decide } from '../../../shared/core/decide.ts';
import { defaultSettings } from '../../../shared/core/settings.ts';
import { createRandom } from '../../fuzz/random.ts';
import { machineState, type OwnMachine, pools } from './fleet.ts';
import type { Drains } from './results.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

const calmMs = 1300;

const settings = { ...defaultSettings, scaleDownThreshold: 0.5, weighBoot: false, replace: false };

/** After the peak: Jobs have ended, most replicas and all that waited are gone, and whoever can be emptied is drained at once. */
export async function drainIdle(
  stage: Stage,
  workload: Workload,
  on: ReadonlySet<OwnMachine>,
): Promise<Drains> {
  const random = createRandom(workload.apps.length + workload.running.length);
  const staying = new Map<string, V1Pod>();
  const ended: string[] = [];
  const consider = (pod: V1Pod, stays: boolean): void => {
    const name = pod.metadata?.name ?? '';
    if (stays) staying.set(name, pod);
    else ended.push(name);
  };
  const share = random.pick([0.25, 0.4, 0.6]);
  const bound = new Set((await stage.settled(0)).pods.filter(({ node }) => node).map(({ name }) => name));
  for (const { kind, pods } of workload.apps)
    for (const pod of pods)
      consider(
        pod,
        bound.has(pod.metadata?.name ?? '') &&
          pod.metadata?.ownerReferences?.[0]?.kind !== 'Job' &&
          (kind === 'stateful' || random.chance(share)),
      );
  for (const pod of workload.running) consider(pod, random.chance(share));
  await stage.removePods(ended);

  const view = await stage.settled(calmMs);
  const now = Date.now();
  const machines = [...workload.serving, ...workload.off].map((machine) =>
    machineState(machine.spec, on.has(machine) ? 'long' : 'off', now),
  );
  const drained = new Set(
    decide({ machines, pools, settings, cluster: view }, now)
      .intents.filter(({ kind }) => kind === 'drain')
      .map(({ machine }) => machine),
  );
  const leaving = view.pods.filter(({ node }) => node && drained.has(node));
  const moved = leaving.filter(({ belongsToNode }) => !belongsToNode);

  await stage.cordon([...drained]);
  await stage.removePods(leaving.map(({ name }) => name));
  await stage.create({
    pods: moved.map(({ name }) => again(staying.get(name), name)),
  });
  await stage.removeNodes([...drained]);
  const after = await stage.settled(calmMs);
  return {
    nodes: drained.size,
    moved: moved.length,
    waiting: after.pods
      .filter(({ node }) => !node)
      .map(({ name, unschedulable = '' }) => ({ pod: name, why: unschedulable })),
  };
}

/** The pod that a controller makes in place of one that was evicted. */
function again(pod: V1Pod | undefined, name: string): V1Pod {
  if (!pod?.spec) throw new Error(`${name} was evicted and is not one of the workload's`);
  const { nodeName: _, ...spec } = pod.spec;
  return { ...pod, metadata: { ...pod.metadata, name: `${name}-again` }, spec };
}
