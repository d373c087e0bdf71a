import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { CoreV1Api } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { ConfigInput } from '../../shared/schema/config.ts';
import type { LabOptions } from '../../simulator/lab/lab.ts';
import { ensureBinaries } from '../real-stack/binaries.ts';
import { makeAuthority } from '../real-stack/certificates.ts';
import type { ControlPlane } from '../real-stack/control-plane.ts';
import { freePorts } from '../real-stack/ports.ts';
import { launch, type Program, untilReady } from '../real-stack/process.ts';
import type { HostOptions, HostProcess } from '../support/host-process.ts';
import { type Caller, callerOf } from './cluster-autoscaler-client.ts';
import { startWorld, type World } from './story.ts';

export interface AutoscaledWorld extends World {
  /** Asks the provider what the Cluster Autoscaler asks it. */
  readonly caller: Caller;
  readonly store: string;
  /** Aborts when the world ends. */
  readonly stopping: AbortController;
  /** A host that serves the Cluster Autoscaler, always on the same port. */
  serve(options?: HostOptions): Promise<HostProcess>;
  /** The stock program, as it was built. */
  autoscale(flags?: readonly string[]): Promise<Program>;
  /** All that it has logged. */
  said(): string;
  /** What it says of itself in its ConfigMap. */
  status(): Promise<string>;
}

/** Pools of the Cluster Autoscaler on a rack whose machines become nodes of a real control plane. */
export async function startAutoscaledWorld(
  plane: ControlPlane,
  namespace: string,
  machines: LabOptions['machines'],
  pools: NonNullable<ConfigInput['pools']>,
): Promise<AutoscaledWorld> {
  const world = await startWorld({
    kubeconfig: plane.kubeConfig.exportConfig(),
    registrar: 'kwok',
    namespace,
    machines,
    config: { pools },
  });
  const [grpcPort = 0] = await freePorts(1);
  const authority = makeAuthority(world.files.folder);
  const server = authority.issueServer('bamel');
  const client = authority.issueClient('cluster-autoscaler');
  const caller = callerOf(
    `localhost:${grpcPort}`,
    credentials.createSsl(
      ...([authority.cert, client.key, client.cert].map((file) => readFileSync(file)) as [
        Buffer,
        Buffer,
        Buffer,
      ]),
    ),
  );
  // A log of its own for each world.
  const program = `cluster-autoscaler-${namespace}`;
  const programs: Program[] = [];
  const stopping = new AbortController();
  const core = plane.kubeConfig.makeApiClient(CoreV1Api);
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  return {
    ...world,
    caller,
    store,
    stopping,
    serve: (options = {}) =>
      world.startHost(store, {
        ...options,
        args: [
          ...['--grpc-port', String(grpcPort), '--grpc-cert', server.cert, '--grpc-key', server.key],
          ...['--grpc-ca', authority.cert, ...(options.args ?? [])],
        ],
      }),
    async autoscale(flags = []) {
      const started = await launchAutoscaler({
        name: program,
        plane,
        folder: world.files.folder,
        address: `127.0.0.1:${grpcPort}`,
        files: { cert: client.cert, key: client.key, cacert: authority.cert },
        flags,
      });
      programs.push(started);
      return started;
    },
    said: () => readFileSync(join(plane.logs, `${program}.log`), 'utf8'),
    async status() {
      const { data } = await core.readNamespacedConfigMap({
        namespace: 'kube-system',
        name: 'cluster-autoscaler-status',
      });
      return data?.status ?? '';
    },
    async close() {
      stopping.abort();
      caller.close();
      for (const program of programs) await program.kill();
      await world.close();
      // The next world begins without what this one left behind.
      for (const { metadata } of (await core.listNode()).items)
        await core.deleteNode({ name: metadata?.name ?? '' });
      await core.deleteNamespace({ name: namespace });
    },
  };
}

interface AutoscalerOptions {
  /** Of its log. */
  readonly name: string;
  readonly plane: ControlPlane;
  readonly folder: string;
  /** Where the provider listens, and what it is talked to with. */
  readonly address: string;
  readonly files: { readonly cert: string; readonly key: string; readonly cacert: string };
  readonly flags?: readonly string[];
}

/** The stock program, in a hurry. */
export async function launchAutoscaler(options: AutoscalerOptions): Promise<Program> {
  const { plane, address, files } = options;
  const paths = await ensureBinaries(['cluster-autoscaler']);
  const [addressPort] = await freePorts(1);
  const config = join(options.folder, 'cloud-config.yaml');
  writeFileSync(config, stringify({ address, ...files }));
  const started = launch({
    name: options.name,
    path: paths['cluster-autoscaler'],
    logs: plane.logs,
    ready: async () => true,
    args: [
      '--cloud-provider=externalgrpc',
      `--cloud-config=${config}`,
      `--kubeconfig=${plane.kubeConfigFile}`,
      `--address=127.0.0.1:${addressPort}`,
      '--leader-elect=false',
      '--scan-interval=1s',
      '--scale-down-unneeded-time=3s',
      '--scale-down-delay-after-add=3s',
      '--scale-down-delay-after-delete=0s',
      '--scale-down-delay-after-failure=3s',
      '--unremovable-node-recheck-timeout=2s',
      '--max-node-provision-time=1m',
      ...(options.flags ?? []),
    ],
  });
  await untilReady(started, async () => true);
  return started;
}
