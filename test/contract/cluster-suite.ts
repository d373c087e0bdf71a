import {
  type ClusterHarness,
  freshNamespace,
  type OpenWatch,
  openWatch,
  send,
} from '../../tools/worlds/cluster-client.ts';
import { customResourceTests } from './cluster-custom.ts';
import { errorTests } from './cluster-errors.ts';
import { evictionTests } from './cluster-evictions.ts';
import { objectTests } from './cluster-objects.ts';
import { patchTests } from './cluster-patches.ts';
import { schedulingTests } from './cluster-scheduling.ts';
import type { Subject } from './cluster-subject.ts';
import { expiryTests, watchTests } from './cluster-watches.ts';
import { workloadTests } from './cluster-workloads.ts';

export type { ClusterHarness } from '../../tools/worlds/cluster-client.ts';

/** How a Kubernetes API with its scheduler and controllers behaves, asked from outside. */
export function clusterContract(name: string, start: () => Promise<ClusterHarness>): void {
  describe(`${name} behaves like Kubernetes:`, () => {
    let harness: ClusterHarness;
    let namespace = '';
    const watches: OpenWatch[] = [];

    beforeAll(async () => {
      harness = await start();
    }, 600_000);
    beforeEach(async () => {
      namespace = await freshNamespace(harness.kubeConfig);
    });
    afterEach(async () => {
      for (const watch of watches.splice(0)) watch.stop();
      await send(harness.kubeConfig, 'DELETE', `/api/v1/namespaces/${namespace}`);
    });
    afterAll(() => harness.close());

    const subject: Subject = {
      get harness() {
        return harness;
      },
      get kubeConfig() {
        return harness.kubeConfig;
      },
      get namespace() {
        return namespace;
      },
      send: (method, path, call) => send(harness.kubeConfig, method, path, call),
      watch: async (path, query) => {
        const watch = await openWatch(harness.kubeConfig, path, query);
        watches.push(watch);
        return watch;
      },
    };

    objectTests(subject);
    errorTests(subject);
    patchTests(subject);
    watchTests(subject);
    customResourceTests(subject);
    schedulingTests(subject);
    workloadTests(subject);
    evictionTests(subject);
    // Last: expiry may restart the server.
    expiryTests(subject);
  });
}
