import { scaleOf } from '../../../scripts/generate/knative/scale.ts';
import { postEvent } from '../../../tools/real-stack/knative/knative-broker.ts';
import {
  functionNames,
  type RunningFunction,
  startFunction,
} from '../../../tools/real-stack/knative/knative-functions.ts';
import { type Island, makeIsland } from '../../../tools/real-stack/knative/knative-namespace.ts';
import { netnsPrograms } from '../../../tools/real-stack/netns.ts';
import { freePorts } from '../../../tools/real-stack/ports.ts';
import type { Program } from '../../../tools/real-stack/process.ts';
import { startSlowProxy } from '../../../tools/real-stack/slow-proxy.ts';
import { type BuiltFolder, buildFolder } from '../../../tools/support/build-folder.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const servingPort = 8012;
const asKubelet = { 'user-agent': 'kube-probe/1.36', 'k-network-probe': 'queue' };

describeWith(
  ['knative-queue-proxy', ...netnsPrograms],
  'every function as built, behind Knative’s queue-proxy',
  () => {
    let built: BuiltFolder;
    beforeAll(async () => {
      built = await buildFolder();
    }, 500_000);
    afterAll(() => built?.remove());

    let holdMs = 0;
    let cleanup: AsyncDisposableStack;
    beforeEach(() => {
      holdMs = 0;
      cleanup = new AsyncDisposableStack();
    });
    afterEach(() => cleanup.disposeAsync(), 60_000);

    interface Pod {
      readonly url: string;
      readonly queue: Program;
      readonly running: RunningFunction;
      readonly slow: Awaited<ReturnType<typeof startSlowProxy>>;
    }

    /** What a pod of a Knative Service is: a function and its queue-proxy, here with a slow line between them. */
    async function startPod(
      name: string,
      limits: { concurrency?: number; timeoutSeconds?: number } = {},
    ): Promise<Pod> {
      const { concurrency, timeoutSeconds } = { ...scaleOf(name), ...limits };
      const [port = 0] = await freePorts(1);
      const running = await startFunction(name, {
        program: built.program('function'),
        port,
        store: 'embedded:',
      });
      cleanup.defer(() => running.remove());
      const slow = await startSlowProxy(port, () => holdMs);
      cleanup.defer(() => slow.close());
      const island: Island = await makeIsland();
      cleanup.defer(() => island.close());
      await island.reach(slow.port);
      const url = `http://127.0.0.1:${await island.publish(servingPort)}`;
      const probe = {
        httpGet: { path: '/health/readiness', port: slow.port, host: '127.0.0.1', scheme: 'HTTP' },
        successThreshold: 1,
      };
      const queue = await island.start(
        'knative-queue-proxy',
        {
          CONTAINER_CONCURRENCY: String(concurrency),
          QUEUE_SERVING_PORT: String(servingPort),
          QUEUE_SERVING_TLS_PORT: '8112',
          USER_PORT: String(slow.port),
          REVISION_TIMEOUT_SECONDS: String(timeoutSeconds),
          SERVING_LOGGING_CONFIG: '',
          SERVING_LOGGING_LEVEL: 'info',
          SERVING_NAMESPACE: 'bamel',
          SERVING_CONFIGURATION: name,
          SERVING_REVISION: `${name}-1`,
          SERVING_POD: `${name}-1-pod`,
          SERVING_POD_IP: '127.0.0.1',
          SERVING_READINESS_PROBE: JSON.stringify(probe),
        },
        { ready: async () => (await statusOfProbe(url)) === 200 || undefined },
      );
      return { url, queue, running, slow };
    }
    const statusOfProbe = async (url: string): Promise<number> => {
      const answer = await fetch(url, { headers: asKubelet, signal: AbortSignal.timeout(5_000) });
      await answer.arrayBuffer();
      return answer.status;
    };
    const event = { type: 'dev.bamel.tick.due' };

    test.each(functionNames)(
      '%s: its probe passes, an event gets through',
      async (name) => {
        const { url, slow } = await startPod(name);
        expect(await statusOfProbe(url)).toBe(200);
        // Without a cluster some are not done, which is 503: a broker tries again.
        expect([204, 503]).toContain(await postEvent(url, event));
        expect(slow.seen.total).toBe(1);
      },
      90_000,
    );

    test('no more at once than a Service says; the others wait their turn', async () => {
      const { url, slow } = await startPod('power-action', { concurrency: 3 });
      holdMs = 100;
      const statuses = await Promise.all(Array.from({ length: 12 }, () => postEvent(url, event)));
      expect(new Set(statuses)).toEqual(new Set([204]));
      expect(slow.seen).toEqual({ most: 3, total: 12 });
    }, 90_000);

    test('past the time-out it is 504, which a broker tries again', async () => {
      const { url } = await startPod('power-action', { timeoutSeconds: 1 });
      holdMs = 5_000;
      expect(await postEvent(url, event)).toBe(504);
      holdMs = 0;
      expect(await postEvent(url, event)).toBe(204);
    }, 90_000);

    test('SIGTERM during work: the probe fails, everything is answered, the function ends last and well', async () => {
      const { url, queue, running, slow } = await startPod('power-action');
      holdMs = 1_500;
      const underWay = Array.from({ length: 10 }, () => postEvent(url, event));
      await eventually(() => expect(slow.holding()).toBe(10));
      process.kill(queue.pid, 'SIGTERM');
      await eventually(async () => expect(await statusOfProbe(url)).not.toBe(200));
      holdMs = 0;
      const late = Array.from({ length: 10 }, () => postEvent(url, event));
      expect(new Set(await Promise.all([...underWay, ...late]))).toEqual(new Set([204]));
      process.kill(running.pid, 'SIGTERM');
      await eventually(() => expect(running.alive).toBe(false));
      expect(running.log).toContain('"msg":"stopping"');
    }, 120_000);
  },
);
