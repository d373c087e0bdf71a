import fc from 'fast-check';
import type { Node, Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { lifecycle, states } from '../../../shared/core/machine/lifecycle.ts';
import type { Machine, Power } from '../../../shared/core/machine/machine.ts';
import { Gi, machine, minute, node, now, pod, pool, running, serving, settings } from './builders.ts';

const pools = ['workers', 'gpu'] as const;
/** Mostly the usual, now and then something else. */
const mostly = <Value>(usual: Value, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const sizes = fc.constantFrom(2000, 4000, 8000);
const zone = fc.constantFrom('a', 'b');

/** A machine in any state, with a status such as that state can have. */
const anyMachine = (name: string): fc.Arbitrary<{ machine: Machine; node: Node | undefined }> =>
  fc
    .record({
      pool: fc.constantFrom(...pools),
      cpu: sizes,
      zone,
      watts: fc.option(fc.constantFrom(100, 200), { nil: undefined }),
      state: fc.constantFrom('off', 'off', 'off', 'off', 'ready', 'ready', 'ready', 'ready', ...states),
      since: fc.constantFrom(0, 5, 60).map((minutes) => now - minutes * minute),
      power: mostly<Power>('off', 'on', 'unknown'),
      reachable: mostly<boolean | undefined>(true, undefined, false),
      ready: mostly(true, false),
      maintenance: fc.boolean(),
      proven: mostly(true, false),
      retryAt: mostly<number | undefined>(undefined, now - 1, now + 1),
      idleSince: fc.constantFrom(undefined, now - 5 * minute, now - 30 * minute),
    })
    .map(({ pool: poolName, cpu, watts, state, ready, ...rest }) => {
      const { capacity, deadline } = lifecycle[state];
      const known = capacity === 'serving' || capacity === 'leaving';
      const resources = { cpu, memory: 16 * Gi };
      const labels = { zone: rest.zone };
      return {
        machine: machine(name, {
          spec: {
            pool: poolName,
            resources,
            labels,
            maintenance: rest.maintenance && state === 'maintenance',
            ...(watts && { watts: { idle: watts / 2, max: watts } }),
          },
          status: {
            state,
            stateSince: rest.since,
            powerState: known ? 'on' : rest.power,
            bmcReachable: rest.reachable,
            ...(deadline && { operation: `op-${name}` }),
            ...(known && { kubernetesNode: name, nodeReady: ready }),
            ...(rest.proven && { provenAt: now - 90 * minute }),
            retryAt: rest.retryAt,
          },
          metrics: { idleSince: rest.idleSince },
        }),
        node: known
          ? node(name, {
              ready,
              unschedulable: capacity === 'leaving',
              labels: { ...labels, 'kubernetes.io/hostname': name, 'bamel.dev/pool': poolName },
              allocatable: { ...resources, pods: 110 },
            })
          : undefined,
      };
    });

const anyPod = (name: string, nodes: readonly string[]): fc.Arbitrary<Pod> =>
  fc
    .record({
      cpu: fc.constantFrom(500, 1000, 3000, 9000),
      on: fc
        .boolean()
        .chain((bound) => fc.constantFrom(...(bound && nodes.length > 0 ? nodes : [undefined]))),
      pinned: fc.constantFrom(undefined, undefined, 'a', 'b'),
      movable: mostly(true, false),
      finished: mostly(false, true),
      belongsToNode: mostly(false, true),
    })
    .map(({ cpu, on, pinned, ...rest }) =>
      pod(name, {
        ...rest,
        requests: { cpu, memory: Gi },
        ...(pinned && { nodeSelector: { zone: pinned } }),
        ...(on && { node: on, unschedulable: undefined }),
      }),
    );

/** Up to six machines in two pools, their nodes, one node that is nobody's machine, and up to ten pods. */
export const anySnapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    machines: fc
      .integer({ min: 0, max: 6 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, index) => anyMachine(`m${index + 1}`)))),
    stranger: fc.boolean(),
    limits: fc.tuple(fc.nat(2), fc.nat(4), fc.nat(2), fc.nat(4)),
    unneededForMs: fc.constantFrom(0, 10 * minute),
    threshold: fc.constantFrom(0, 0.3, 0.7),
  })
  .chain(({ machines, stranger, limits, unneededForMs, threshold }) => {
    const nodes = machines.flatMap((one) => one.node ?? []);
    if (stranger) nodes.push(node('stranger', { labels: { zone: 'a' } }));
    const names = nodes.map(({ name }) => name);
    const [minA, maxA, minB, maxB] = limits;
    return fc
      .constantFrom(0, 1, 2, 4, 7, 10)
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, index) => anyPod(`p${index + 1}`, names))))
      .map((pods) => ({
        machines: machines.map((one) => one.machine),
        pools: [
          pool({ name: 'workers', minNodes: minA, maxNodes: maxA, unneededForMs }),
          pool({ name: 'gpu', minNodes: minB, maxNodes: maxB, unneededForMs }),
        ],
        settings: settings({ scaleDownThreshold: threshold }),
        cluster: { nodes, pods },
      }));
  });

/** Machines that serve and are used a little, for so long that whoever can go does. */
export const restfulSnapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    sizes: fc.array(fc.constantFrom(2000, 4000, 8000), { minLength: 2, maxLength: 6 }),
    pods: fc.array(
      fc.record({
        cpu: fc.constantFrom(250, 500, 1000, 2000),
        on: fc.nat(5),
        movable: mostly(true, false),
        pinned: mostly<string | undefined>(undefined, 'a', 'b'),
      }),
      { maxLength: 8 },
    ),
    waiting: fc.nat(2),
    minNodes: fc.nat(1),
  })
  .map(({ sizes: given, pods, waiting, minNodes }) => {
    const labels = (index: number) => ({
      zone: index % 2 ? 'a' : 'b',
      'kubernetes.io/hostname': `m${index}`,
    });
    return {
      machines: given.map((cpu, index) =>
        serving(`m${index}`, { spec: { resources: { cpu, memory: 16 * Gi }, labels: labels(index) } }),
      ),
      pools: [pool({ minNodes })],
      settings: settings({ scaleDownThreshold: 0.7 }),
      cluster: {
        nodes: given.map((cpu, index) =>
          node(`m${index}`, { labels: labels(index), allocatable: { cpu, memory: 16 * Gi, pods: 110 } }),
        ),
        pods: [
          ...pods.map(({ cpu, on, movable, pinned }, index) =>
            running(`p${index}`, `m${on % given.length}`, {
              movable,
              requests: { cpu, memory: Gi },
              ...(pinned && { nodeSelector: { zone: pinned } }),
            }),
          ),
          ...Array.from({ length: waiting }, (_, index) => pod(`w${index}`)),
        ],
      },
    };
  });
