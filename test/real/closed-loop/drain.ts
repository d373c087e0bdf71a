import { decide } from '../../../shared/core/decide.ts';
import { defaultSettings } from '../../../shared/core/settings.ts';
import { createRandom } from '../../fuzz/random.ts';
import { machineState, type OwnMachine, pools } from './fleet.ts';
import type { Drains } from './results.ts';
import type { Stage } from './stage.ts';
import type { Workload } from './workloads.ts';

/** Longer than the scheduler's pause after a refusal. */
const calmMs = 1300;

const settings = { ...defaultSettings, scaleDownThreshold: 0.5, weighBoot: false, replace: false };

/** After the peak: Jobs have ended, most replicas and all that waited are gone, and whoever can be emptied is drained. */
export async function drainIdle(
  stage: Stage,
  workload: Workload,
  on: ReadonlySet<OwnMachine>,
): Promise<Drains> {
  const random = createRandom(workload.seed);
  const share = random.pick([0.25, 0.4, 0.6]);
  const { pods: peak } = await stage.settled(0);
  const ended = peak
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .filter(({ node, owner, belongsToNode }) => {
      if (belongsToNode) return false;
      const isKept = owner?.kind === 'StatefulSet' || (owner?.kind !== 'Job' && random.chance(share));
      return !node || !isKept;
    });
  await stage.removePods(ended.map(({ name }) => name));

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
  const [own, moved] = [true, false].map((belongs) =>
    leaving.filter(({ belongsToNode }) => belongsToNode === belongs).map(({ name }) => name),
  ) as [string[], string[]];

  await stage.cordon([...drained]);
  await stage.replacePods(moved);
  await stage.removePods(own);
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
