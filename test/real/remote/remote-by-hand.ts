import { CoreV1Api } from '@kubernetes/client-node';
import {
  clearSlices,
  peerByHand,
  sliceByHand,
  whatIsBorrowed,
} from '../../../tools/real-stack/liqo/liqo-by-hand.ts';
import { isReady } from '../../../tools/real-stack/nodes.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import type { RemoteWorld } from '../../../tools/worlds/remote-world.ts';

/** The whole way without anything of ours, which shows that the world is one. What follows finds that peering. */
export async function playByHand(world: RemoteWorld): Promise<void> {
  const { consumer, south } = world;
  const people = await world.peopleOf('by-hand');
  await peerByHand(consumer, south);
  await sliceByHand(consumer, 'south', 'slice-1', { cpu: '4', memory: '8Gi', pods: '20' });
  await eventually(
    async () => expect(isReady(await people.core.readNode({ name: 'slice-1' }))).toBe(true),
    120_000,
  );
  await people.deploy('web', 2, { cpu: '1', memory: '1Gi' });
  await eventually(async () => expect(await people.running('web')).toEqual(['slice-1', 'slice-1']), 120_000);
  const there = south.plane.kubeConfig.makeApiClient(CoreV1Api);
  const { items } = await there.listPodForAllNamespaces({ labelSelector: 'app=web' });
  expect(items.map(({ spec }) => spec?.nodeName)).toEqual(['south-1', 'south-1']);

  await people.scale('web', 0);
  await clearSlices(consumer, [south]);
  expect(await whatIsBorrowed(consumer, south)).toEqual([]);
  await eventually(async () => expect(await people.nodes()).toEqual(['control-1']), 120_000);
  await eventually(() => expect(world.kubelets()).toEqual([]), 60_000);
  await people.core.deleteNamespace({ name: 'by-hand' });
}
