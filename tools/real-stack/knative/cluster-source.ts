import { launch, makeWorkspace, type Program, untilReady } from '../process.ts';

export interface ClusterSource {
  readonly program: Program;
  remove(): Promise<void>;
}

interface SourceOptions {
  /** The built function.mjs. */
  readonly path: string;
  readonly kubeConfigFile: string;
  readonly sink: string;
}

/** The source of a Knative installation, with the environment that its Deployment gives it. */
export async function startClusterSource({
  path,
  kubeConfigFile,
  sink,
}: SourceOptions): Promise<ClusterSource> {
  const workspace = makeWorkspace('cluster-source');
  const ready = async () => program.log.includes('watching the cluster') || undefined;
  const program: Program = launch({
    name: 'cluster-source',
    path: 'env',
    args: [
      '-i',
      'BAMEL_FUNCTION=cluster-source',
      'BAMEL_STORE=embedded:',
      'BAMEL_CONFIG=resources:',
      'POD_NAMESPACE=bamel',
      `KUBECONFIG=${kubeConfigFile}`,
      `K_SINK=${sink}`,
      process.execPath,
      path,
    ],
    logs: workspace.logs,
    ready,
  });
  await untilReady(program, ready);
  return {
    program,
    async remove() {
      await program.kill();
      workspace.remove();
    },
  };
}
