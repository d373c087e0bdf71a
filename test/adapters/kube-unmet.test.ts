import { createUnmetReporter } from '../../shared/adapters/kubernetes/unmet-reporter.ts';
import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { realClock } from '../../shared/process/clock.ts';
import { pod } from '../core/support/builders.ts';

function setUp(pods: readonly Pod[]) {
  let now = 0;
  const told: string[] = [];
  const nobody = () => Promise.reject(new Error('not asked for here'));
  const cluster: Cluster = {
    view: async () => ({ pods, nodes: [] }),
    podsOn: nobody,
    node: nobody,
    changeNode: nobody,
    deleteNode: nobody,
    evict: nobody,
    forceDelete: nobody,
    volumesOn: nobody,
    recordEvent: async ({ kind, namespace, name }, type, reason, message) => {
      told.push(`${kind} ${namespace}/${name}: ${type} ${reason} ${message}`);
    },
  };
  return {
    told,
    report: createUnmetReporter(cluster, { ...realClock, now: () => now }),
    pass: (ms: number) => {
      now += ms;
    },
  };
}
const unmet = (name: string, why: string) => ({ unmet: [{ pod: `default/${name}`, pods: 1, why }] });

test('a pod that no machine fits is told once, again when the reason changes, and every ten minutes', async () => {
  const { told, report, pass } = setUp([pod('train-0')]);
  await report(unmet('train-0', '0 of 6 machines can run it: 6 have no gpu'));
  await report(unmet('train-0', '0 of 6 machines can run it: 6 have no gpu'));
  expect(told).toEqual([
    'Pod default/train-0: Warning NoMachineFits bamel: 0 of 6 machines can run it: 6 have no gpu',
  ]);
  await report(unmet('train-0', '0 of 7 machines can run it: 7 have no gpu'));
  expect(told).toHaveLength(2);
  pass(599_999);
  await report(unmet('train-0', '0 of 7 machines can run it: 7 have no gpu'));
  expect(told).toHaveLength(2);
  pass(1);
  await report(unmet('train-0', '0 of 7 machines can run it: 7 have no gpu'));
  expect(told).toHaveLength(3);
});

test('pods of the same controller are told too; others, and those that run by now, are not', async () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs' };
  const { told, report } = setUp([
    pod('web-1', { owner }),
    pod('web-2', { owner }),
    pod('web-3', { owner, node: 'n1', unschedulable: undefined }),
    pod('other'),
  ]);
  await report(unmet('web-1', 'no room'));
  expect(told.map((text) => text.split(':')[0])).toEqual(['Pod default/web-1', 'Pod default/web-2']);
  await report(unmet('gone', 'no room'));
  expect(told).toHaveLength(2);
});

test('thousands of pods are told a few at a time, and all in the end', async () => {
  const owner = { kind: 'ReplicaSet', name: 'web', uid: 'rs' };
  const { told, report } = setUp(Array.from({ length: 120 }, (_, index) => pod(`web-${index}`, { owner })));
  await report(unmet('web-0', 'no room'));
  expect(told).toHaveLength(50);
  await report(unmet('web-0', 'no room'));
  await report(unmet('web-0', 'no room'));
  expect(new Set(told).size).toBe(120);
});
