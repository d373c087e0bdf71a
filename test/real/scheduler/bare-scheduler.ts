import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { ensureBinaries } from '../../../tools/real-stack/binaries.ts';
import { startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { freePorts } from '../../../tools/real-stack/ports.ts';
import { launch, makeWorkspace, untilReady } from '../../../tools/real-stack/process.ts';
import { type Api, createApi } from './api.ts';

export interface BareScheduler {
  readonly api: Api;
  readonly kubeConfig: KubeConfig;
  /** The scheduler's metrics as text. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/**
 * kube-scheduler on nodes that are nothing but objects: no controller touches them, nothing runs on them. `options` are
 * fields of its configuration file.
 */
export async function startBareScheduler(options: object): Promise<BareScheduler> {
  await using cleanup = new AsyncDisposableStack();
  const plane = await startControlPlane();
  cleanup.defer(() => plane.close());
  // Nodes without heartbeats would be tainted, and the scheduler there writes slowly and waits for volumes.
  await Promise.all([plane.controllerManager.kill(), plane.kwok.kill(), plane.scheduler.kill()]);
  const workspace = makeWorkspace('scheduler');
  cleanup.defer(() => workspace.remove());
  const [port] = (await freePorts(1)) as [number];
  const { 'kube-scheduler': path } = await ensureBinaries(['kube-scheduler']);
  const config = join(workspace.folder, 'scheduler.json');
  writeFileSync(config, JSON.stringify({ ...commonConfig(plane.kubeConfigFile), ...options }));
  const args = [
    `--config=${config}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--authorization-always-allow-paths=/healthz,/metrics',
    `--cert-dir=${workspace.folder}`,
  ];
  const api = createApi(plane.kubeConfig);
  cleanup.defer(() => api.close());
  const ready = async () => ((await insecure(port, '/healthz')) === 'ok' ? true : undefined);
  const scheduler = launch({ name: 'bare-scheduler', path, args, logs: workspace.logs, ready });
  cleanup.defer(() => scheduler.kill());
  await untilReady(scheduler, ready);
  const owned = cleanup.move();
  return {
    api,
    kubeConfig: plane.kubeConfig,
    metrics: () => insecure(port, '/metrics'),
    close: () => owned.disposeAsync(),
  };
}

/** The scheduler serves a certificate of its own making, to this machine only. */
function insecure(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, timeout: 5000 };
    const asking = get(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    asking.on('timeout', () => asking.destroy(new Error(`${path} did not answer`)));
    asking.on('error', reject);
  });
}

const commonConfig = (kubeconfig: string) => ({
  apiVersion: 'kubescheduler.config.k8s.io/v1',
  kind: 'KubeSchedulerConfiguration',
  clientConnection: { kubeconfig, qps: 2000, burst: 4000 },
  leaderElection: { leaderElect: false },
});
