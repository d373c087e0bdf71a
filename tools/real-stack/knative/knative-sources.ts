import type { ControlPlane } from '../control-plane.ts';
import { createObject, writeStatus } from '../objects.ts';
import { freePorts } from '../ports.ts';
import type { Program } from '../process.ts';
import { waitFor } from '../wait.ts';
import { type KnativeBroker, namespace } from './knative-broker.ts';
import { manifestsIn } from './manifests.ts';

const plurals: Readonly<Record<string, string>> = { Pod: 'pods', Node: 'nodes' };

interface SourceSpec {
  readonly mode: string;
  readonly resources: readonly { readonly apiVersion: string; readonly kind: string }[];
}

/** The receive adapter of our ApiServerSource for pods and nodes, set up as Knative's controller does it. */
export async function startApiServerSource(plane: ControlPlane, broker: KnativeBroker): Promise<Program> {
  const manifest = manifestsIn('sources').find(({ metadata }) => metadata?.name === 'bamel-cluster');
  if (!manifest) throw new Error('knative/sources.yaml has no ApiServerSource bamel-cluster');
  const { mode, resources } = manifest.spec as unknown as SourceSpec;
  const config = {
    // What an empty namespaceSelector means.
    namespaces: [''],
    allNamespaces: true,
    resources: resources.map(({ apiVersion, kind }) => ({
      gvr: { Group: '', Version: apiVersion, Resource: plurals[kind] },
    })),
    mode,
  };
  const [profiling = 0] = await freePorts(1);
  const watching = await countWatches(plane);
  return broker.island.start(
    'knative-apiserver-adapter',
    {
      ...broker.env,
      NAMESPACE: namespace,
      NAME: 'bamel-cluster',
      POD_NAME: 'adapter',
      K_SINK: broker.insideUrl,
      K_SOURCE_CONFIG: JSON.stringify(config),
      PROFILING_PORT: String(profiling),
    },
    { ready: async () => (await countWatches(plane)) >= watching + resources.length || undefined },
  );
}

/** Watches of pods and nodes that the API server serves just now: what comes before them is never sent. */
async function countWatches({ kubeConfig }: ControlPlane): Promise<number> {
  const { request } = await import('node:https');
  const options = {};
  await kubeConfig.applyToHTTPSOptions(options);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asking = request(`${kubeConfig.getCurrentCluster()?.server}/metrics`, options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve(text));
  });
  asking.on('error', reject).end();
  const lines = (await promise).matchAll(
    /^apiserver_longrunning_requests\{[^}]*resource="(?:pods|nodes)"[^}]*verb="WATCH"[^}]*\} (\d+)/gm,
  );
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

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
