import type {
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1StorageClass,
  V1Taint,
} from '@kubernetes/client-node';
import fc from 'fast-check';
import { distinct, maybe, pick, rarely, record } from './odds.ts';
import { type Feature, featureNames, podLabels, runningFeatures, specWith } from './pod-features.ts';
import { storageCase } from './storage-cases.ts';

/**
 * Nodes, the pods on them, and one pod to judge on one of the nodes. `$` stands for the case's id: with it in
 * every topology key no two cases know of each other, and thousands can share one control plane.
 */
export interface Case {
  readonly nodes: readonly V1Node[];
  readonly target: number;
  readonly running: readonly (V1Pod & { terminating?: boolean })[];
  readonly pod: V1Pod;
  readonly storageClasses: readonly V1StorageClass[];
  readonly volumes: readonly V1PersistentVolume[];
  readonly claims: readonly V1PersistentVolumeClaim[];
}

/** Shared by all cases. */
export const namespaces: Readonly<Record<string, Record<string, string>>> = {
  plain: {},
  red: { team: 'x', tier: 'gold' },
  blue: { team: 'y' },
};

const nodeLabels = record<Record<string, string>>({
  'zone.$': maybe(pick('a', 'b', 'c'), 9),
  'rack.$': maybe(pick('1', '2'), 6),
  disk: maybe(pick('ssd', 'hdd')),
  size: maybe(pick('1', '5', '10', 'x', '007')),
  'topology.kubernetes.io/zone': maybe(pick('z1', 'z2'), 1),
});

const taint = fc.record({
  key: pick('dedicated', 'spot', 'example.com/x'),
  value: pick('', 'yes', 'no'),
  effect: pick('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
});

const namespace = pick('plain', 'plain', 'plain', 'plain', 'red', 'blue');

const caseOf = (names: readonly Feature[], withVolumes: boolean): fc.Arbitrary<Case> =>
  fc.integer({ min: 1, max: 4 }).chain((size) => {
    const node = (index: number): fc.Arbitrary<V1Node> =>
      fc
        .record({
          labels: nodeLabels,
          taints: fc.oneof(
            { weight: names.includes('taints') ? 1 : 6, arbitrary: fc.constant<V1Taint[]>([]) },
            { weight: 1, arbitrary: distinct(taint, ({ key, effect }) => key + effect, 2) },
          ),
          unschedulable: rarely(40),
          cpu: pick('1', '4', '12', '12'),
          memory: pick('1Gi', '16Gi', '16Gi'),
          pods: pick('3', '20', '20', '20', '20', '20', '20', '20'),
          gpu: maybe(pick('1', '2'), 2),
        })
        .map(({ labels, taints, unschedulable, cpu, memory, pods, gpu }) => ({
          metadata: { name: `$-n${index}`, labels: { ...labels, case: '$', 'host.$': `$-n${index}` } },
          spec: { taints, ...(unschedulable && { unschedulable }) },
          status: {
            allocatable: {
              cpu,
              memory,
              pods,
              'ephemeral-storage': '2Gi',
              ...(gpu && { 'example.com/gpu': gpu }),
            },
          },
        }));
    const runner = (index: number): fc.Arbitrary<Case['running'][number]> =>
      fc
        .record({
          on: fc.nat(size - 1),
          labels: podLabels,
          namespace,
          spec: pick([], [], [], ...runningFeatures.map((name) => [name])).chain(specWith),
          terminating: rarely(8),
        })
        .map(({ on, labels, namespace: where, spec, terminating }) => ({
          metadata: { name: `$-r${index}`, namespace: where, labels: { ...labels, case: '$' } },
          spec: { ...spec, nodeName: `$-n${on}` },
          ...(terminating && { terminating }),
        }));
    return fc
      .record({
        nodes: fc.tuple(...Array.from({ length: size }, (_, index) => node(index))),
        target: fc.nat(size - 1),
        running: fc
          .oneof(fc.integer({ min: 0, max: 7 }), fc.constant(7))
          .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => runner(index)))),
        labels: podLabels,
        namespace,
        spec: specWith(names),
        storage: withVolumes ? storageCase : fc.constant(undefined),
      })
      .map(({ nodes, target, running, labels, namespace: where, spec, storage }): Case => {
        const pod: V1Pod = {
          metadata: { name: '$-pod', namespace: where, labels: { ...labels, case: '$', judged: 'yes' } },
          spec: {
            ...spec,
            nodeSelector: { ...spec.nodeSelector, case: '$' },
            tolerations: [
              ...(spec.tolerations ?? []),
              { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
            ],
            ...(storage && { volumes: storage.podVolumes }),
          },
        };
        return {
          nodes,
          target,
          running: [...running, ...(storage?.running(where, target) ?? [])],
          pod,
          storageClasses: storage?.storageClasses ?? [],
          volumes: storage?.volumes(where) ?? [],
          claims: storage?.claims(where) ?? [],
        };
      });
  });

export const anyCase: fc.Arbitrary<Case> = fc
  .record({
    names: fc.oneof(
      { weight: 2, arbitrary: fc.subarray(featureNames, { minLength: 1, maxLength: 3 }) },
      // Where pods look at each other there is most to go wrong.
      {
        weight: 3,
        arbitrary: fc.subarray<Feature>(['affinity', 'antiAffinity', 'spread'], {
          minLength: 1,
          maxLength: 2,
        }),
      },
      { weight: 2, arbitrary: fc.constant<Feature[]>(['spread']) },
      { weight: 1, arbitrary: pick<Feature[]>(['ports'], ['resources']) },
    ),
    withVolumes: rarely(6),
  })
  .chain(({ names, withVolumes }) => caseOf(names, withVolumes));

export const withId = (given: Case, id: string): Case =>
  JSON.parse(JSON.stringify(given).replaceAll('$', id));
