import { evaluateScaling } from '../../functions/evaluate-scaling/handler.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { decode, encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { node, pod, running } from '../core/support/builders.ts';
import { startWorld } from '../power-action/harness.ts';

test('an evaluation keeps utilization in nodes/{id}/metrics and the cluster in global/stats', async () => {
  const world = await startWorld({
    machines: [
      {
        name: 'm-1',
        pool: 'workers',
        powerInterface: 'wol' as const,
        macAddress: '52:54:00:00:00:01',
        resources: { cpu: 4, memory: '16Gi' },
      },
    ],
    pools: [{ name: 'workers' }],
  });
  try {
    const at = world.clock.now();
    const status = {
      state: 'ready',
      stateSince: at,
      powerState: 'on',
      kubernetesNode: 'tower',
      nodeReady: true,
      attempts: 0,
    };
    await world.store.commit([], [{ put: keys.node('m-1', 'status'), value: encode(status) }]);
    const view = {
      nodes: [node('tower')],
      pods: [
        running('a', 'tower', { requests: { cpu: 1_000 } }),
        pod('b', { requests: { cpu: 64_000 }, createdAt: at - 60_000 }),
      ],
    };
    const cluster = { view: async () => view, recordEvent: async () => undefined } as unknown as Cluster;
    const { deps } = world.process();
    const { signal } = new AbortController();
    await world.clock.run(evaluateScaling({ ...deps, cluster })({}, { trigger: 'test', id: 'test', signal }));
    const read = async (key: string) => decode<object>(key, (await world.store.get(key))?.value ?? 'null');
    expect(await read(keys.node('m-1', 'metrics'))).toMatchObject({
      utilization: { cpu: 0.25, memory: 0, pods: 1 },
    });
    expect(await read(keys.global('stats'))).toMatchObject({
      evaluations: 1,
      cluster: {
        machines: { ready: 1 },
        capacity: { cpu: 4_000 },
        requested: { cpu: 1_000 },
        utilization: { cpu: 0.25 },
        pods: { running: 1, waiting: 1, unmet: 1 },
      },
    });
  } finally {
    await world.close();
  }
});
