import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { startHostProcess, writeHostFiles } from '../tools/support/host-process.ts';
import type { Table } from './table.ts';

const pods = 200;
const namespace = 'default';

/** From the API server taking a pod that fits nowhere to the power command at a BMC: one pod, one machine. */
export async function benchReaction(): Promise<Table> {
  const lab = await startLab({
    machines: makeMachines(2 * pods, { cpu: 4, bootSeconds: 600, pool: 'rack' }),
    speed: 10,
  });
  const files = await writeHostFiles(
    labConfig(lab.inventory(), { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h' } }] }),
    lab.kubeconfig,
    lab.inventory(),
  );
  const host = await startHostProcess(files, 'embedded:', { tick: '10s', logLevel: 'info' });
  try {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(lab.kubeconfig);
    const api = kubeConfig.makeApiClient(CoreV1Api);
    const seen = new Map<string, number>();
    const watch = await new Watch(kubeConfig).watch(
      `/api/v1/namespaces/${namespace}/pods`,
      {},
      (_type, pod) => {
        const name: string = pod.metadata?.name;
        if (
          pod.status?.conditions?.some(({ reason }: { reason?: string }) => reason === 'Unschedulable') &&
          !seen.has(name)
        )
          seen.set(name, performance.now());
      },
      () => undefined,
    );
    const commandTimes = (): number[] =>
      [...lab.machines.values()]
        .flatMap(({ machine }) => machine.commands.map(({ at }) => at))
        .sort((a, b) => a - b);
    const create = (name: string): Promise<unknown> =>
      api.createNamespacedPod({
        namespace,
        body: {
          metadata: { name },
          spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '3' } } }] },
        },
      });
    const until = async (check: () => boolean, what: string): Promise<void> => {
      for (let waited = 0; !check(); waited += 2) {
        if (waited > 30_000)
          throw new Error(`waited 30 s for ${what}; the host said ${host.lines.at(-1) ?? 'nothing'}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    // The first decision waits for the first look at the BMCs.
    await create('warm-up');
    await until(() => commandTimes().length === 1, 'the first power command');

    const alone: number[] = [];
    const floor: number[] = [];
    for (let index = 0; index < pods; index += 1) {
      const name = `one-${index}`;
      await create(name);
      const taken = { wall: Date.now(), monotonic: performance.now() };
      await until(() => commandTimes().length === index + 2, `the power command for ${name}`);
      await until(() => seen.has(name), `${name} to be seen`);
      alone.push((commandTimes().at(-1) ?? 0) - taken.wall);
      floor.push((seen.get(name) ?? 0) - taken.monotonic);
    }
    const burstStart = Date.now();
    await Promise.all(Array.from({ length: pods - 1 }, (_, index) => create(`burst-${index}`)));
    const burstTaken = Date.now();
    await until(() => commandTimes().length === 2 * pods, 'the power commands of the burst');
    const burst = commandTimes()
      .slice(pods + 1)
      .map((at) => at - burstStart);
    watch.abort();
    const row = (name: string, times: number[]): string[] => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): number =>
        sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
      const ratio = at(0.5) / Math.max(1, floor.toSorted((a, b) => a - b)[Math.floor(floor.length / 2)] ?? 1);
      return [name, `${at(0.5).toFixed(0)} ms`, `${at(0.99).toFixed(0)} ms`, ratio.toFixed(1)];
    };
    return {
      columns: ['', 'p50', 'p99', '× floor'],
      rows: [
        row('floor: pod seen as Unschedulable by a watch', floor),
        row(`${pods} pods one after the other: power command at the BMC`, alone),
        row(`${pods - 1} pods at once: from the first request to each power command`, burst),
      ],
      notes: [
        'Counted from the API server having taken the pod; 50 ms of it is waiting for others to decide with.',
        `The API server of the lab took ${burstTaken - burstStart} ms for the burst's pods. 400 machines, embedded store, host in a process of its own.`,
      ],
    };
  } finally {
    host.kill('SIGKILL');
    await host.ended;
    await lab.stop();
    await files.remove();
  }
}
