import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, type V1Pod } from '@kubernetes/client-node';
import type { ControlPlane } from '../control-plane.ts';
import type { Island } from '../knative/knative-namespace.ts';
import type { Program } from '../process.ts';
import { waitFor } from '../wait.ts';

const firstPort = 10_250;

/**
 * The kubelet of the consumer's own node, as far as virtual-kubelets are concerned: kwok only says that their
 * pods run. Starts the real program for each, restarts it when it ends, stops it when its pod is to go.
 */
export function keepVirtualKubelets(plane: ControlPlane, island: Island, folder: string) {
  const core = plane.kubeConfig.makeApiClient(CoreV1Api);
  const running = new Map<string, Program>();
  const stopping = new AbortController();
  const failures: unknown[] = [];
  const ending: Promise<void>[] = [];
  let port = firstPort;

  const start = async (pod: V1Pod): Promise<Program> => {
    const { name = '', namespace = '' } = pod.metadata ?? {};
    const [container] = pod.spec?.containers ?? [];
    const account = await plane.asServiceAccount(namespace, pod.spec?.serviceAccountName ?? '');
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, account.exportConfig());
    port += 1;
    const env = {
      KUBECONFIG: kubeconfig,
      POD_NAME: name,
      POD_NAMESPACE: namespace,
      POD_IP: '127.0.0.1',
      VIRTUALNODE_NAME: container?.env?.find((one) => one.name === 'VIRTUALNODE_NAME')?.value ?? '',
    };
    const args = (container?.args ?? []).map((arg) => arg.replaceAll('$(POD_IP)', env.POD_IP));
    return island.start('liqo-virtual-kubelet', env, {
      as: name,
      args: [...args, '--certificate-type=self-signed', `--listen-port=${port}`],
      ready: async () => true,
    });
  };

  const look = async (): Promise<void> => {
    const { items } = await core.listPodForAllNamespaces({
      labelSelector: 'offloading.liqo.io/component=virtual-kubelet',
    });
    const wanted = items.filter(({ metadata, spec }) => spec?.nodeName && !metadata?.deletionTimestamp);
    for (const [uid, program] of running) {
      if (wanted.some(({ metadata }) => metadata?.uid === uid)) {
        if (!program.alive) await program.restart();
        continue;
      }
      running.delete(uid);
      ending.push(end(program));
    }
    for (const pod of wanted)
      if (!running.has(pod.metadata?.uid ?? '')) running.set(pod.metadata?.uid ?? '', await start(pod));
  };

  const keeping = (async () => {
    while (!stopping.signal.aborted) {
      // The API server may be down, or the pod gone again before its token was made: looked at again.
      await look().catch((error: unknown) => failures.push(error));
      await sleep(50);
    }
  })();

  return {
    /** What it could not do, for who wonders. */
    failures,
    get names(): string[] {
      return [...running.values()].map(({ name }) => name);
    },
    async close(): Promise<void> {
      stopping.abort();
      await keeping;
      await Promise.all(ending);
      for (const program of running.values()) await program.kill();
    },
  };
}

/** As a kubelet ends it: it gives its leases back, which the next one would wait for otherwise. */
async function end(program: Program): Promise<void> {
  if (!program.alive) return;
  process.kill(program.pid, 'SIGTERM');
  await waitFor(`${program.name} ended`, () => (program.alive ? undefined : true), { timeoutMs: 5000 }).catch(
    () => program.kill(),
  );
}
