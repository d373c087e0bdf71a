import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { watchSurroundings } from '../../shared/view/surroundings.ts';
import { createVirtualClock } from '../power-action/virtual-clock.ts';

const view = { pods: [], nodes: [] } as unknown as ClusterView;
const patience = { firstMs: 2_000, laterMs: 300 };

test('a cluster that does not answer holds nobody up: what was known of it has to do', async () => {
  const clock = createVirtualClock();
  const answers = [Promise.resolve(view), new Promise<ClusterView>(() => undefined)];
  const surroundings = watchSurroundings({ view: async () => answers.shift() ?? view }, clock, patience);
  await surroundings.refresh();
  expect(surroundings.last()).toBe(view);
  clock.pass(10_000);
  // Resolves although the second look never ends.
  await clock.run(surroundings.refresh());
  expect(surroundings.last()).toBe(view);
});

test('one that is known to be away is not shown as it was', async () => {
  const clock = createVirtualClock();
  let looks = 0;
  const cluster = {
    view: async () => {
      looks += 1;
      if (looks > 1) throw new Error('away');
      return view;
    },
  };
  const surroundings = watchSurroundings(cluster, clock);
  await surroundings.refresh();
  // Not asked again so soon.
  await surroundings.refresh();
  expect([looks, surroundings.last()]).toEqual([1, view]);
  clock.pass(10_000);
  await surroundings.refresh();
  expect(surroundings.last()).toBeUndefined();
});
