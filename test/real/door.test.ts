import { CoreV1Api } from '@kubernetes/client-node';
import { functionAccounts } from '../../scripts/generate/install/rbac.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';
import { kubeTokenReview } from '../../shared/server/token-review.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { createObject } from '../../tools/real-stack/objects.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { eventHeaders, post, recorder } from '../runtime/harness.ts';

const reporters = {
  accounts: ['system:serviceaccount:sensors:trigger'],
  event: 'dev.bamel.test.asked',
  paths: ['/'],
};
const log = createLog({ level: 'silent', format: 'json' });

describeWith(controlPlanePrograms, 'fault 39: tokens of accounts, reviewed by a real API server', () => {
  let plane: ControlPlane;
  let served: RunningServer;
  let core: CoreV1Api;
  let ms = 0;
  const { calls, served: called } = recorder();
  const cleanup = new AsyncDisposableStack();

  beforeAll(async () => {
    plane = await startControlPlane();
    cleanup.defer(() => plane.close());
    core = plane.kubeConfig.makeApiClient(CoreV1Api);
    for (const name of ['bamel', 'other', 'sensors'])
      await core.createNamespace({ body: { metadata: { name } } });
    for (const object of functionAccounts['dead-letters'] ?? [])
      await createObject(plane.kubeConfig, object as Parameters<typeof createObject>[1]);
    for (const namespace of ['bamel', 'other', 'sensors'])
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'trigger' } } });
    // As the function that may do least: reviewing tokens is all it may.
    const kubeConfig = await plane.asServiceAccount('bamel', 'bamel-dead-letters');
    const kubeconfig = kubeConfig.exportConfig();
    const kube = kubeTransport({ kubeconfig });
    cleanup.defer(async () => kube.close());
    const review = kubeTokenReview(kube, {
      audience: 'bamel',
      callers: ['system:serviceaccount:bamel:*'],
      reporters: reporters.accounts,
      clock: { monotonic: () => ms + realClock.monotonic() },
      log,
    });
    const where = { host: '127.0.0.1', port: 0, log, metrics: createMetrics(), review, reporters };
    served = await serve([called], where);
    cleanup.defer(() => served.close());
  }, 400_000);
  afterAll(() => cleanup.disposeAsync(), 60_000);

  async function tokenOf(namespace: string, audience: string): Promise<string> {
    const body = { spec: { audiences: [audience] } };
    const { status } = await core.createNamespacedServiceAccountToken({ namespace, name: 'trigger', body });
    return status?.token ?? '';
  }
  const ask = async (token: string): Promise<number> =>
    (await post(served.url, '{}', { authorization: `Bearer ${token}` })).status;

  test.each([
    ['an account of ours, for our audience', 'bamel', 'bamel', 200],
    ['an account of ours, for the API server', 'bamel', 'https://kubernetes.default.svc', 401],
    ['an account of ours, for somebody else', 'bamel', 'mt-broker-filter', 401],
    ['an account of another namespace, for our audience', 'other', 'bamel', 401],
  ])('%s (%s, %s) → %d', async (_what, namespace, audience, status) => {
    // RBAC takes a moment to be known.
    const token = await tokenOf(namespace, audience);
    await eventually(async () => expect(await ask(token)).toBe(status));
  });

  test('a sensor’s account may tell what it senses, and nothing else', async () => {
    const authorization = `Bearer ${await tokenOf('sensors', 'bamel')}`;
    const told = async (headers: Record<string, string>) =>
      (await post(served.url, '{}', { ...headers, authorization })).status;
    await eventually(async () => expect(await told(eventHeaders())).toBe(204));
    expect([await told({}), await told(eventHeaders({ 'ce-type': 'dev.knative.sources.ping' }))]).toEqual([
      403, 403,
    ]);
  });

  test('nobody, rubbish and a token that was tampered with → 401', async () => {
    const before = calls.length;
    const [head, payload] = (await tokenOf('bamel', 'bamel')).split('.');
    expect((await post(served.url, '{}')).status).toBe(401);
    for (const token of ['rubbish', `${head}.${payload}.`, `${head}.${payload}.AAAA`])
      expect(await ask(token)).toBe(401);
    expect(calls).toHaveLength(before);
  });

  test('without the API server: who was let in a moment ago still is, then nobody; then all is well again', async () => {
    const token = await tokenOf('bamel', 'bamel');
    expect(await ask(token)).toBe(200);
    await plane.apiServer.kill();
    expect(await ask(token)).toBe(200);
    const before = calls.length;
    ms += 10_001;
    expect(await ask(token)).toBe(503);
    expect(calls).toHaveLength(before);
    await plane.apiServer.restart();
    await eventually(async () => expect(await ask(token)).toBe(200), 60_000);
  }, 180_000);
});
