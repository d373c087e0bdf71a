import type { KubeConfig } from '@kubernetes/client-node';
import type { Call, ClusterHarness, OpenWatch, send } from '../../tools/worlds/cluster-client.ts';

/** What each group of tests is given; usable from within tests only. */
export interface Subject {
  readonly harness: ClusterHarness;
  readonly kubeConfig: KubeConfig;
  /** This test's own namespace. */
  readonly namespace: string;
  send(method: string, path: string, call?: Call): ReturnType<typeof send>;
  watch(path: string, query?: Record<string, string | number | boolean>): Promise<OpenWatch>;
}
