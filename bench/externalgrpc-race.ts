import { CoreV1Api } from '@kubernetes/client-node';
import { startControlPlane } from '../tools/real-stack/control-plane.ts';
import { waitFor } from '../tools/real-stack/wait.ts';
import { findProgram } from '../tools/support/programs.ts';
import { startAutoscaledWorld } from '../tools/worlds/cluster-autoscaler-world.ts';

const rounds = 5;

/** A pod that fits nowhere → the power command at a BMC: through the Cluster Autoscaler, and by our own decision. */
export async function raceAutoscalers(): Promise<{ rows: string[][]; notes: string[] }> {
  if (!findProgram('cluster-autoscaler') || !findProgram('kube-apiserver'))
    return { rows: [], notes: ['No race: node scripts/real-stack.ts build makes the programs it needs.'] };
  const plane = await startControlPlane();
  try {
    const kinds = ['theirs', 'ours'] as const;
    const world = await startAutoscaledWorld(
      plane,
      'race',
      kinds.flatMap((kind) =>
        Array.from({ length: rounds + 1 }, (_, index) => ({
          name: `${kind}-${index}`,
          cpu: 4,
          memory: '16Gi',
          bootSeconds: 600,
          pool: kind,
          labels: { kind },
        })),
      ),
      [{ name: 'theirs', managedBy: 'clusterAutoscaler' }, { name: 'ours' }],
    );
    try {
      const host = await world.serve({ tick: '10s', logLevel: 'info' });
      await waitFor('the first look at the BMCs', () => world.caller.call('Refresh'));
      await world.autoscale(['--scale-down-enabled=false']);
      await waitFor('the first round of the Cluster Autoscaler', () => world.status());
      const core = plane.kubeConfig.makeApiClient(CoreV1Api);
      const commandsOf = (kind: string) =>
        [...world.lab.machines]
          .filter(([name]) => name.startsWith(kind))
          .flatMap(([, { machine }]) => machine.commands);
      const times: Record<string, number[]> = { theirs: [], ours: [] };
      for (let round = 0; round < rounds; round += 1)
        for (const kind of kinds) {
          await core.createNamespacedPod({
            namespace: 'race',
            body: {
              metadata: { name: `${kind}-${round}` },
              spec: {
                nodeSelector: { kind },
                containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '3' } } }],
              },
            },
          });
          const begun = Date.now();
          await waitFor(
            `a power command for ${kind}-${round}; ${host.lines.at(-1)}`,
            () => (commandsOf(kind).length > round ? true : undefined),
            { everyMs: 5 },
          );
          times[kind]?.push((commandsOf(kind).at(-1)?.at ?? 0) - begun);
        }
      const middle = (kind: string): number =>
        times[kind]?.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN;
      const worst = (kind: string): number => times[kind]?.at(-1) ?? Number.NaN;
      const row = (name: string, kind: string) => [
        name,
        '',
        `${middle(kind).toFixed(0)} ms`,
        `${worst(kind).toFixed(0)} ms (worst of ${rounds})`,
      ];
      return {
        rows: [
          row('pod → power command, Cluster Autoscaler (1 s scan interval)', 'theirs'),
          row('pod → power command, evaluate-scaling', 'ours'),
        ],
        notes: [
          `The race, on one cluster (kube-apiserver, kube-scheduler) with one host: evaluate-scaling is ${(middle('theirs') / middle('ours')).toFixed(1)} times as fast.`,
        ],
      };
    } finally {
      await world.close();
    }
  } finally {
    await plane.close();
  }
}
