import type { ClusterView } from '../../../shared/core/cluster/cluster.ts';
import { defaultSettings } from '../../../shared/core/settings.ts';
import { createRandom } from '../../fuzz/random.ts';
import { calmMs, decideOn, type On, powerOn } from './apply.ts';
import type { Drains, Left } from './results.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

/** Whatever is little used may leave at once; nothing is powered on in its place. */
const settings = { ...defaultSettings, scaleDownThreshold: 0.5, weighBoot: false, replace: false };

/** After the peak: Jobs have ended, most replicas and all that waited are gone, and whoever can be emptied is drained. */
export async function drainIdle(stage: Stage, workload: Workload, on: On): Promise<Drains> {
  await endPeak(stage, workload);
  const view = await stage.settled(calmMs);
  const { intents } = decideOn(workload, on, view, { settings, serving: 'long' });
  const drained = new Set(intents.filter(({ kind }) => kind === 'drain').map(({ machine }) => machine));
  const leaving = view.pods.filter(({ node }) => node && drained.has(node));
  const own = leaving.filter(({ belongsToNode }) => belongsToNode);
  const moved = leaving.filter(({ belongsToNode }) => !belongsToNode);

  await stage.cordon([...drained]);
  await stage.replacePods(moved.map(({ name }) => name));
  await stage.removePods(own.map(({ name }) => name));
  // Node objects stay until their machines are off: for so long, their zones count to pods that are to be spread.
  const held = leftIn(await stage.settled(calmMs));
  await stage.removeNodes([...drained]);
  for (const machine of on) if (drained.has(machine.spec.name)) on.delete(machine);

  let after = await stage.settled(calmMs);
  const waiting = leftIn(after);
  if (waiting.length > 0) {
    await powerOn(stage, workload, on, decideOn(workload, on, after));
    after = await stage.settled(calmMs);
  }
  return { nodes: drained.size, moved: moved.length, held, waiting, still: leftIn(after) };
}

async function endPeak(stage: Stage, { seed }: Workload): Promise<void> {
  const random = createRandom(seed);
  const share = random.pick([0.25, 0.4, 0.6]);
  const { pods } = await stage.settled(0);
  const ended = pods
    .filter(({ belongsToNode }) => !belongsToNode)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .filter(({ node, owner }) => {
      const stays = owner?.kind === 'StatefulSet' || (owner?.kind !== 'Job' && random.chance(share));
      return !node || !stays;
    });
  await stage.removePods(ended.map(({ name }) => name));
}

const leftIn = ({ pods }: ClusterView): Left[] =>
  pods.filter(({ node }) => !node).map(({ name, unschedulable = '' }) => ({ pod: name, why: unschedulable }));
