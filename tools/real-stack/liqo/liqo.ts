import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Island, makeIsland } from '../knative/knative-namespace.ts';
import { addNode } from '../nodes.ts';
import { makeWorkspace } from '../process.ts';
import { controlPlanePrograms, liqoPrograms } from '../table.ts';
import { type LiqoCluster, startLiqoCluster } from './liqo-cluster.ts';
import { keepVirtualKubelets } from './liqo-kubelets.ts';

/** For `describeWith`: all that a world of several clusters is made of. */
export const liqoWorldPrograms = [...controlPlanePrograms, ...liqoPrograms, 'go', 'ip', 'openssl'];

export interface LiqoWorld {
  readonly consumer: LiqoCluster;
  readonly north: LiqoCluster;
  readonly south: LiqoCluster;
  /** The virtual-kubelets that run now, by the names of their pods. */
  kubelets(): string[];
  close(): Promise<void>;
}

/** One cluster that borrows and two that lend, 16 cores each, with real Kubernetes and real Liqo: about 2 GB. */
export async function startLiqoWorld(): Promise<LiqoWorld> {
  await using cleanup = new AsyncDisposableStack();
  const workspace = makeWorkspace('liqo');
  cleanup.defer(() => workspace.remove());
  const island: Island = await makeIsland();
  cleanup.defer(() => island.close());
  const start = async (id: string): Promise<LiqoCluster> => {
    const folder = join(workspace.folder, id);
    mkdirSync(folder);
    const cluster = await startLiqoCluster({ id, island, folder });
    cleanup.defer(() => cluster.close());
    return cluster;
  };
  const starting = [start('home'), start('north'), start('south')] as const;
  // Whoever fails, the others are waited for: they could not be closed otherwise.
  await Promise.allSettled(starting);
  const [consumer, north, south] = await Promise.all(starting);
  for (const { plane, id } of [north, south])
    await addNode(plane.kubeConfig, `${id}-1`, { cpu: 16, memory: '64Gi' });
  // The virtual-kubelets' pods live somewhere; nobody else fits there.
  await addNode(consumer.plane.kubeConfig, 'control-1', { cpu: '10m', memory: '100Mi' });
  const kubelets = keepVirtualKubelets(consumer.plane, island, workspace.folder);
  cleanup.defer(() => kubelets.close());
  const owned = cleanup.move();
  return {
    consumer,
    north,
    south,
    kubelets: () => kubelets.names,
    close: () => owned.disposeAsync(),
  };
}
