import { AppsV1Api, type KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Store } from '../../shared/ports/store.ts';
import type { Log } from '../../shared/process/log.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import type { Lab } from '../lab/lab.ts';
import type { Pool, Scenario, Scene, Workload } from './scenario.ts';

const namespace = 'default';
const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const brokenBmc = 'ok-but-nothing-happens';

export interface Stage {
  readonly kubeConfig: KubeConfig;
  readonly lab: Lab;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** What the times of the scenes are multiplied with. */
  readonly pace: number;
}

/** Plays the people who use the cluster, again and again until told to stop. */
export async function play(
  { workloads, scenes }: Scenario,
  pools: readonly Pool[],
  stage: Stage,
): Promise<void> {
  const { clock, signal, log } = stage;
  const api = stage.kubeConfig.makeApiClient(AppsV1Api);
  for (const workload of workloads) await create(api, workload);
  while (!signal.aborted)
    for (const scene of scenes) {
      await clock.sleep(scene.afterMs * stage.pace, signal);
      if (signal.aborted) return;
      log.info({ step: 'people', text: scene.caption }, 'scene begins');
      await caption(stage.store, scene.caption);
      await act(scene, workloads, pools, api, stage.lab);
    }
}

/** For whoever looks at the console. */
async function caption(store: Store, text: string): Promise<void> {
  await store.commit([], [{ put: keys.global('caption'), value: encode({ text }) }]);
}

async function act(
  { scale, breaks, mends }: Scene,
  workloads: readonly Workload[],
  pools: readonly Pool[],
  api: AppsV1Api,
  lab: Lab,
): Promise<void> {
  if (mends) for (const { machine } of lab.machines.values()) machine.faults.clear(brokenBmc);
  if (breaks) {
    const members = pools.find(({ name }) => name === breaks)?.machines ?? [];
    const resting = members
      .map(({ name }) => lab.machines.get(name)?.machine)
      .find((one) => one?.powerState === 'Off');
    resting?.faults.set({ fault: brokenBmc });
  }
  if (!scale) return;
  const pool = workloads.find(({ name }) => name === scale.workload)?.pool;
  const { machines = [], holds = 1 } = pools.find(({ name }) => name === pool) ?? {};
  const replicas = scale.replicas ?? Math.ceil((scale.share ?? 0) * machines.length * holds);
  await api.patchNamespacedDeployment(
    { namespace, name: scale.workload, body: { spec: { replicas } } },
    mergePatch,
  );
}

async function create(api: AppsV1Api, { name, requests, pool }: Workload): Promise<void> {
  const labels = { app: name };
  await api.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { tier: pool },
            terminationGracePeriodSeconds: 1,
            containers: [{ name, image: `example/${name}`, resources: { requests } }],
          },
        },
      },
    },
  });
}
