import type { ControlPlane } from '../control-plane.ts';
import { createObject, writeStatus } from '../objects.ts';
import type { Program } from '../process.ts';
import { waitFor } from '../wait.ts';
import { type KnativeBroker, namespace } from './knative-broker.ts';
import { manifestsIn } from './manifests.ts';

/** The tick: our PingSource, with another schedule where a minute is long to wait. */
export async function startPingSource(
  plane: ControlPlane,
  broker: KnativeBroker,
  schedule: string,
): Promise<Program> {
  const manifest = manifestsIn('sources').find(({ kind }) => kind === 'PingSource');
  if (!manifest) throw new Error('knative/sources.yaml has no PingSource');
  const made = await createObject(plane.kubeConfig, {
    ...manifest,
    metadata: { namespace, ...manifest.metadata },
    spec: { ...manifest.spec, schedule },
  } as typeof manifest);
  await writeStatus(plane.kubeConfig, made, {
    observedGeneration: made.metadata?.generation ?? 1,
    sinkUri: broker.insideUrl,
    conditions: [{ type: 'Ready', status: 'True' }],
  });
  const program = await broker.island.start(
    'knative-mtping',
    {
      ...broker.env,
      NAMESPACE: broker.env.SYSTEM_NAMESPACE ?? '',
      POD_NAME: 'mtping',
      CONTAINER_NAME: 'mtping',
      K_NO_SHUTDOWN_AFTER: '1',
      K_LOGGING_CONFIG: '{}',
      K_OBSERVABILITY_CONFIG: '{}',
      K_LEADER_ELECTION_CONFIG: '',
    },
    { args: ['--disable-ha'], ready: async () => true },
  );
  await waitFor('the pinger running', () => program.alive || undefined);
  return program;
}
