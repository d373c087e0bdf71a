import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { ensureBinaries } from '../binaries.ts';
import { makeAuthority } from '../certificates.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import type { Island } from '../knative/knative-namespace.ts';
import { freePorts } from '../ports.ts';
import { launch, type Program, untilReady } from '../process.ts';
import { liqoPrograms } from '../table.ts';
import { installLiqoChart, registerLiqoWebhooks } from './liqo-chart.ts';

export interface LiqoCluster {
  readonly id: string;
  readonly plane: ControlPlane;
  /** Once nobody answers any more: what died is no longer started again. */
  close(): Promise<void>;
}

export interface LiqoClusterOptions {
  readonly id: string;
  readonly island: Island;
  /** A folder of its own. */
  readonly folder: string;
}

/** A control plane with Liqo's own programs beside it, all but the network's. */
export async function startLiqoCluster({ id, island, folder }: LiqoClusterOptions): Promise<LiqoCluster> {
  const paths = await ensureBinaries(liqoPrograms);
  await using cleanup = new AsyncDisposableStack();
  const plane = await startControlPlane({ signsRequests: true });
  cleanup.defer(() => plane.close());
  const { kubeConfig, kubeConfigFile, logs } = plane;
  await Promise.all([island.reach(plane.port), installLiqoChart(kubeConfig, id)]);

  const [probes = 0, metrics = 0] = await freePorts(2);
  const answers = (port: number, path: string) => async () => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(2000) });
    return response.ok || undefined;
  };
  const kept: Program[] = [];
  const run = async (name: keyof typeof paths, args: string[], ready: () => Promise<unknown>) => {
    const program = launch({
      name,
      path: 'env',
      args: [`KUBECONFIG=${kubeConfigFile}`, paths[name], `--cluster-id=${id}`, ...args],
      logs,
      ready,
    });
    cleanup.defer(() => program.kill());
    await untilReady(program, ready);
    kept.push(program);
  };
  await Promise.all([
    run(
      'liqo-controller-manager',
      [
        '--liqo-namespace=liqo',
        '--networking-enabled=false',
        '--authentication-enabled=true',
        '--offloading-enabled=true',
        '--default-limits-enforcement=None',
        '--default-node-resources=cpu=4,memory=8Gi,pods=110,ephemeral-storage=20Gi',
        `--api-server-address-override=https://127.0.0.1:${plane.port}`,
        '--enable-api-server-ip-remapping=false',
        '--metrics-address=0',
        `--health-probe-address=127.0.0.1:${probes}`,
      ],
      answers(probes, '/readyz'),
    ),
    run('liqo-crd-replicator', [`--metrics-address=127.0.0.1:${metrics}`], answers(metrics, '/metrics')),
    startWebhook(),
  ]);

  async function startWebhook(): Promise<void> {
    const authority = makeAuthority(folder);
    const { cert, key } = authority.issueServer('liqo-webhook');
    const certificates = join(folder, 'k8s-webhook-server', 'serving-certs');
    mkdirSync(certificates, { recursive: true });
    symlinkSync(cert, join(certificates, 'tls.crt'));
    symlinkSync(key, join(certificates, 'tls.key'));
    // Nobody else is in there: it only must differ from cluster to cluster.
    const port = plane.port;
    const inside = port - 10_000;
    const outside = await island.publish(inside);
    await island.start(
      'liqo-webhook',
      { KUBECONFIG: kubeConfigFile, TMPDIR: folder },
      {
        as: `liqo-webhook-${id}`,
        args: [
          `--cluster-id=${id}`,
          '--liqo-namespace=liqo',
          '--podcidr=10.244.0.0/16',
          `--webhook-port=${inside}`,
          '--vk-options-default-template=liqo/virtual-kubelet-default',
          '--metrics-address=0',
          '--health-probe-address=0',
        ],
        ready: () => speaksTls(outside),
      },
    );
    await registerLiqoWebhooks(kubeConfig, outside, authority.cert);
  }

  // They panic now and then, such as the replicator across a gap in a watch; in a cluster a kubelet starts them again.
  const restarting = setInterval(() => {
    for (const program of kept) if (!program.alive) void program.restart();
  }, 500);
  cleanup.defer(() => clearInterval(restarting));
  const owned = cleanup.move();
  return { id, plane, close: () => owned.disposeAsync() };
}

function speaksTls(port: number): Promise<true> {
  const { promise, resolve, reject } = Promise.withResolvers<true>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, timeout: 2000 }, () => {
    socket.destroy();
    resolve(true);
  });
  socket.on('timeout', () => socket.destroy(new Error('no TLS within 2 s')));
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('closed')));
  return promise;
}
