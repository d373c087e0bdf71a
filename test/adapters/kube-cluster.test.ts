import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createLog } from '../../shared/process/log.ts';
import type { startApi } from '../../simulator/lab/api/index.ts';
import { startProxy } from '../../tools/support/cut-proxy.ts';
import { eventually } from '../../tools/support/eventually.ts';
import {
  clusterAdapterContract,
  expectUnavailable,
  fastClock,
  throughPort,
} from '../contract/cluster-adapter-suite.ts';
import { startLabApi } from '../contract/lab-harness.ts';

const log = createLog({ level: 'silent', format: 'json' });

clusterAdapterContract('the lab', () => startLabApi());

describe('a server that', () => {
  let cleanup: AsyncDisposableStack;
  beforeEach(() => {
    cleanup = new AsyncDisposableStack();
  });
  afterEach(() => cleanup.disposeAsync());
  const startLab = async (options?: Parameters<typeof startApi>[0]) => {
    const lab = await startLabApi(options);
    cleanup.defer(() => lab.close());
    return lab;
  };
  const connect = (options: Omit<Parameters<typeof createKubeCluster>[0], 'log'>) => {
    const cluster = createKubeCluster({ ...options, log });
    cleanup.defer(() => cluster.close());
    return cluster;
  };

  test('was never reached is unavailable, and why is told', async () => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      { name: 'nowhere', server: 'http://127.0.0.1:1', skipTLSVerify: true },
      { name: 'nobody' },
    );
    const cluster = connect({ transport: kubeTransport(kubeConfig), clock: fastClock(20) });
    await expect(cluster.view()).rejects.toThrow(/server has not answered for \d+ s \(.*ECONNREFUSED.*\)/);
    await expectUnavailable(cluster.node('any'));
  });

  test('refuses is told in one line, with what it said', async () => {
    const lab = await startLab({ token: 'right' });
    const kubeConfig = throughPort(lab.kubeConfig, Number(new URL(lab.api.url).port));
    kubeConfig.users = [{ name: 'lab', token: 'wrong' }];
    const cluster = connect({ transport: kubeTransport(kubeConfig), clock: fastClock(20) });
    await expect(cluster.view()).rejects.toThrow(/^[^\n]*\(401: Unauthorized\)[^\n]*$/);
    await expect(cluster.node('any')).rejects.toMatchObject({
      code: 'refused',
      message: 'the Kubernetes API server answered 401: Unauthorized',
    });
  });

  test('says nothing any more on an open connection is noticed, and so is that it speaks again', async () => {
    const lab = await startLab();
    const proxy = await startProxy(Number(new URL(lab.api.url).port));
    cleanup.defer(() => proxy.close());
    const kubeConfig = throughPort(lab.kubeConfig, proxy.port);
    const cluster = connect({ transport: kubeTransport(kubeConfig), clock: fastClock(10), timeoutMs: 500 });
    const seen = async () => (await cluster.view()).nodes.map(({ name }) => name);
    await lab.addNode('first');
    await eventually(async () => expect(await seen()).toEqual(['first']));
    proxy.freeze();
    await expectUnavailable(cluster.podsOn('first'));
    await eventually(() => expectUnavailable(cluster.view()), 60_000);
    await lab.kubeConfig.makeApiClient(CoreV1Api).deleteNode({ name: 'first' });
    await lab.addNode('second');
    proxy.heal();
    await eventually(async () => expect(await seen()).toEqual(['second']), 60_000);
  }, 150_000);
});
