import { AppsV1Api, type KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { Clock } from '../../shared/ports.ts';
import type { Log } from '../../shared/runtime/log.ts';

interface Workload {
  readonly name: string;
  readonly requests: Readonly<Record<string, string>>;
}

interface Scene {
  readonly afterMs: number;
  readonly workload: string;
  readonly replicas: number;
  readonly caption: string;
}

const workloads: readonly Workload[] = [
  { name: 'web', requests: { cpu: '2', memory: '4Gi' } },
  { name: 'train', requests: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' } },
];

/** A working day in a minute, again and again. */
const scenes: readonly Scene[] = [
  { afterMs: 500, workload: 'web', replicas: 3, caption: 'morning: somebody scales web to 3 replicas' },
  { afterMs: 7_000, workload: 'train', replicas: 1, caption: 'noon: a training run asks for a GPU' },
  { afterMs: 7_000, workload: 'train', replicas: 0, caption: 'afternoon: the training run has ended' },
  { afterMs: 8_000, workload: 'web', replicas: 6, caption: 'rush hour: web is scaled to 6' },
  { afterMs: 10_000, workload: 'web', replicas: 2, caption: 'evening: web is scaled to 2' },
  { afterMs: 12_000, workload: 'web', replicas: 0, caption: 'night: nobody needs web' },
  { afterMs: 15_000, workload: 'web', replicas: 0, caption: 'a new day begins' },
];

const namespace = 'default';
const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** Plays the people who use the cluster, until told to stop. */
export async function playScenario(
  kubeConfig: KubeConfig,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const api = kubeConfig.makeApiClient(AppsV1Api);
  for (const { name, requests } of workloads) {
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
              terminationGracePeriodSeconds: 1,
              containers: [{ name, image: `example/${name}`, resources: { requests } }],
            },
          },
        },
      },
    });
  }
  while (!signal.aborted)
    for (const { afterMs, workload, replicas, caption } of scenes) {
      await clock.sleep(afterMs, signal);
      if (signal.aborted) return;
      log.info({ step: 'people', workload, replicas, story: caption }, 'workload changed');
      await api.patchNamespacedDeployment(
        { namespace, name: workload, body: { spec: { replicas } } },
        mergePatch,
      );
    }
}
