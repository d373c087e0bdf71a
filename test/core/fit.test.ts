import type { Pod, Toleration } from '../../shared/core/cluster.ts';
import { misfit, type Place } from '../../shared/core/fit.ts';
import type { Taint } from '../../shared/core/machine.ts';
import { packAll, place } from '../../shared/core/pack.ts';
import { openNodes, placeOf, waitingPods } from '../../shared/core/snapshot.ts';
import { Gi, machine, node, pod, running, serving, snapshot } from './support/builders.ts';

const spot = (parts: Partial<Place> = {}): Place => ({
  name: 'm1',
  labels: {},
  taints: [],
  free: { cpu: 4000, memory: 16 * Gi, pods: 110 },
  ...parts,
});

describe('labels', () => {
  const wants: Partial<Pod> = { nodeSelector: { disk: 'ssd' } };
  test.each([
    [{ disk: 'ssd' }, undefined],
    [{ disk: 'hdd' }, 'no label disk=ssd'],
    [{}, 'no label disk=ssd'],
  ])('%j', (labels, why) => {
    expect(misfit(pod('p', wants), spot({ labels }))).toBe(why);
  });
});

describe('taints', () => {
  const gpu: Taint = { key: 'gpu', value: 'a100', effect: 'NoSchedule' };
  test.each<[string, Taint, Toleration[], string | undefined]>([
    ['none tolerated', gpu, [], 'taint gpu=a100 not tolerated'],
    ['a taint without a value', { key: 'gpu', effect: 'NoExecute' }, [], 'taint gpu not tolerated'],
    ['a mere preference', { ...gpu, effect: 'PreferNoSchedule' }, [], undefined],
    ['equal', gpu, [{ key: 'gpu', operator: 'Equal', value: 'a100' }], undefined],
    ['equal by default', gpu, [{ key: 'gpu', value: 'a100' }], undefined],
    ['another value', gpu, [{ key: 'gpu', value: 'h100' }], 'taint gpu=a100 not tolerated'],
    ['any value', gpu, [{ key: 'gpu', operator: 'Exists' }], undefined],
    ['everything', gpu, [{ operator: 'Exists' }], undefined],
    ['an empty toleration tolerates nothing', gpu, [{}], 'taint gpu=a100 not tolerated'],
    ['the right effect', gpu, [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }], undefined],
    [
      'another effect',
      gpu,
      [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }],
      'taint gpu=a100 not tolerated',
    ],
  ])('%s', (_name, taint, tolerations, why) => {
    expect(misfit(pod('p', { tolerations }), spot({ taints: [taint] }))).toBe(why);
  });
});

test('resources, named', () => {
  expect(misfit(pod('p', { requests: { cpu: 8000 } }), spot())).toBe('8 cpu wanted, 4 cpu free');
});

test('what a machine will be is known before it is on', () => {
  const future = placeOf(machine('m1', { spec: { labels: { disk: 'ssd' }, resources: { cpu: 2000 } } }));
  expect(future).toEqual({
    name: 'm1',
    labels: { 'kubernetes.io/hostname': 'm1', 'bamel.dev/pool': 'workers', disk: 'ssd' },
    taints: [],
    free: { cpu: 2000, pods: 110 },
  });
});

test('only Ready nodes that take pods and are not to be emptied are open, less what runs there', () => {
  const open = openNodes(
    snapshot({
      machines: [serving('d', { status: { state: 'draining' } })],
      nodes: [node('a'), node('b', { ready: false }), node('c', { unschedulable: true }), node('d')],
      pods: [running('p', 'a'), running('finished', 'a', { finished: true }), running('q', 'b')],
    }),
  );
  expect(open.map(({ name, free }) => [name, free.cpu, free.pods])).toEqual([['a', 3000, 109]]);
});

test('demand is what the scheduler gave up on', () => {
  const pods = [
    pod('waits'),
    pod('not-looked-at', { unschedulable: undefined }),
    pod('bound', { node: 'a' }),
    pod('finished', { finished: true }),
    pod('leaving', { terminating: true }),
    pod('of-a-daemonset', { belongsToNode: true }),
  ];
  expect(waitingPods({ nodes: [], pods }).map(({ name }) => name)).toEqual(['waits']);
});

describe('packing', () => {
  const small = spot({ name: 'small', free: { cpu: 1000, memory: 16 * Gi, pods: 110 } });
  const large = spot({ name: 'large', free: { cpu: 2000, memory: 16 * Gi, pods: 110 } });

  test('takes the first place that fits, and leaves the rest', () => {
    const pods = [pod('a'), pod('b'), pod('c'), pod('d')];
    expect(packAll(pods, [small, large]).map(({ name }) => name)).toEqual(['d']);
  });

  test('does not touch the places it is given', () => {
    packAll([pod('a')], [small]);
    expect(small.free.cpu).toBe(1000);
  });

  test('counts pod slots', () => {
    const one = spot({ free: { cpu: 4000, memory: 16 * Gi, pods: 1 } });
    expect(packAll([pod('a'), pod('b')], [one]).map(({ name }) => name)).toEqual(['b']);
  });

  test('says where', () => {
    const open = [small, large];
    expect([place(pod('a'), open), place(pod('b'), open)]).toEqual(['small', 'large']);
    expect(place(pod('c', { requests: { cpu: 9000 } }), open)).toBeUndefined();
  });
});
