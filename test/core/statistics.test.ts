import { useOf } from '../../shared/core/cluster/node-use.ts';
import { statisticsOf } from '../../shared/core/cluster/statistics.ts';
import { utilizationNews } from '../../shared/core/cluster/utilization.ts';
import { Gi, machine, minute, node, now, pod, running, serving } from './support/builders.ts';

const nodes = [node('m-1'), node('m-2', { allocatable: { cpu: 8000, memory: 16 * Gi } }), node('control')];
const pods = [
  running('a', 'm-1', { requests: { cpu: 2000, memory: 4 * Gi } }),
  running('b', 'm-1', { requests: { cpu: 1000, memory: 4 * Gi } }),
  running('ended', 'm-1', { finished: true }),
  running('c', 'control'),
  pod('waits'),
];
const cluster = { nodes, pods };
const machines = [serving('m-1'), serving('m-2'), machine('m-3')];
const newsOf = (...some: Parameters<typeof utilizationNews>[0]) =>
  utilizationNews(some, cluster, useOf(cluster), now);

describe('the utilization of a node, kept with its machine', () => {
  test('is what its pods request of what it can allocate', () => {
    expect(newsOf(...machines)).toEqual([
      { machine: 'm-1', utilization: { cpu: 0.75, memory: 0.5, pods: 2, at: now } },
      { machine: 'm-2', utilization: { cpu: 0, memory: 0, pods: 0, at: now } },
    ]);
  });

  const known = (cpu: number, ageMs: number, podCount = 2) =>
    serving('m-1', { metrics: { utilization: { cpu, memory: 0.5, pods: podCount, at: now - ageMs } } });
  test.each([
    ['about the same, and not old', known(0.73, minute), false],
    ['about the same, and old', known(0.73, 10 * minute), true],
    ['another share', known(0.6, minute), true],
    ['another number of pods', known(0.75, minute, 3), true],
  ])('%s', (_name, one, written) => {
    expect(newsOf(one)).toHaveLength(written ? 1 : 0);
  });

  test('of a machine that no longer serves is dropped', () => {
    const utilization = { cpu: 0.5, memory: 0.5, pods: 1, at: now };
    expect(newsOf(machine('m-1', { metrics: { utilization } }))).toEqual([
      { machine: 'm-1', utilization: undefined },
    ]);
  });

  test('of a large fleet is written in parts, the oldest first', () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      serving(`n-${index}`, {
        status: { kubernetesNode: 'm-1' },
        metrics: { utilization: { cpu: 0, memory: 0, pods: 0, at: now - index } },
      }),
    );
    const news = newsOf(...many);
    expect(news).toHaveLength(450);
    expect(news[0]?.machine).toBe('n-999');
  });
});

test('statistics of the whole cluster', () => {
  const demand = { waiting: 3, unmet: 1 };
  expect(statisticsOf({ machines, cluster, use: useOf(cluster), demand }, now)).toEqual({
    at: now,
    machines: { off: 1, ready: 2 },
    capacity: { cpu: 12_000, memory: 32 * Gi, pods: 110 },
    requested: { cpu: 3_000, memory: 8 * Gi },
    utilization: { cpu: 0.25, memory: 0.25, pods: 2 / 110 },
    pods: { running: 2, waiting: 3, unmet: 1 },
    watts: { now: expect.any(Number), ifAllOn: expect.any(Number) },
  });
});
