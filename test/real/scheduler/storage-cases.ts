import type {
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1StorageClass,
  V1Volume,
} from '@kubernetes/client-node';
import fc from 'fast-check';
import { pick, rarely } from './odds.ts';

export interface StorageCase {
  readonly storageClasses: readonly V1StorageClass[];
  readonly podVolumes: V1Volume[];
  volumes(namespace: string): V1PersistentVolume[];
  claims(namespace: string): V1PersistentVolumeClaim[];
  /** Pods that use a claim already. */
  running(namespace: string, target: number): V1Pod[];
}

interface Parts {
  readonly how: 'bound' | 'waiting' | 'static' | 'immediate' | 'missing' | 'half' | 'lost-volume';
  readonly zone: 'a' | 'b' | undefined;
  readonly zoneLabel: string | undefined;
  readonly once: boolean;
  readonly used: boolean;
  readonly size: string;
  readonly volumeSize: string;
  readonly selectedNode: string | undefined;
}

const classes = { waiting: 'wait.$', static: 'local.$', immediate: 'now.$' } as const;

/** One claim, in one of the states that a claim can be in. */
export const storageCase: fc.Arbitrary<StorageCase> = fc
  .record({
    how: pick<Parts['how']>(
      'bound',
      'bound',
      'bound',
      'bound',
      'waiting',
      'waiting',
      'static',
      'static',
      'immediate',
      'missing',
      'half',
      'lost-volume',
    ),
    zone: pick<Parts['zone']>('a', 'b', undefined),
    zoneLabel: pick(undefined, 'z1', 'z1', 'z1__z2'),
    once: rarely(1),
    used: rarely(1),
    size: pick('1Gi', '5Gi'),
    volumeSize: pick('1Gi', '10Gi'),
    selectedNode: pick(undefined, '$-n0'),
  })
  .map(fromParts);

function fromParts(parts: Parts): StorageCase {
  const { how, zone, zoneLabel, once, used, size, volumeSize, selectedNode } = parts;
  const mode = once ? 'ReadWriteOncePod' : 'ReadWriteOnce';
  const storageClass =
    how === 'waiting'
      ? classes.waiting
      : how === 'static'
        ? classes.static
        : how === 'immediate'
          ? classes.immediate
          : '';
  const inZone = { matchExpressions: [{ key: 'zone.$', operator: 'In', values: [zone ?? ''] }] };
  const topologies = { matchLabelExpressions: [{ key: 'zone.$', values: [zone ?? ''] }] };
  const hasVolume = how === 'bound' || how === 'static' || how === 'half';
  return {
    storageClasses: [
      {
        metadata: { name: classes.waiting },
        provisioner: 'example.com/disk',
        volumeBindingMode: 'WaitForFirstConsumer',
        ...(zone && { allowedTopologies: [topologies] }),
      },
      {
        metadata: { name: classes.static },
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
      {
        metadata: { name: classes.immediate },
        provisioner: 'example.com/disk',
        volumeBindingMode: 'Immediate',
      },
    ],
    podVolumes: [{ name: 'data', persistentVolumeClaim: { claimName: '$-claim' } }],
    volumes: (namespace) =>
      hasVolume
        ? [
            {
              metadata: {
                name: '$-volume',
                labels: { case: '$', ...(zoneLabel && { 'topology.kubernetes.io/zone': zoneLabel }) },
              },
              spec: {
                capacity: { storage: volumeSize },
                accessModes: [mode],
                storageClassName: storageClass,
                csi: { driver: 'disk.example.com', volumeHandle: '$' },
                ...(zone && { nodeAffinity: { required: { nodeSelectorTerms: [inZone] } } }),
                ...(how !== 'static' && {
                  claimRef: { kind: 'PersistentVolumeClaim', namespace, name: '$-claim' },
                }),
              },
              status: { phase: how === 'static' ? 'Available' : 'Bound' },
            },
          ]
        : [],
    claims: (namespace) =>
      how === 'missing'
        ? []
        : [
            {
              metadata: {
                name: '$-claim',
                namespace,
                labels: { case: '$' },
                annotations: {
                  ...((how === 'bound' || how === 'lost-volume') && {
                    'pv.kubernetes.io/bind-completed': 'yes',
                  }),
                  ...(how === 'waiting' &&
                    selectedNode && { 'volume.kubernetes.io/selected-node': selectedNode }),
                },
              },
              spec: {
                accessModes: [mode],
                resources: { requests: { storage: size } },
                storageClassName: storageClass,
                ...((how === 'bound' || how === 'half') && { volumeName: '$-volume' }),
                ...(how === 'lost-volume' && { volumeName: '$-gone' }),
              },
              status: { phase: how === 'bound' || how === 'lost-volume' ? 'Bound' : 'Pending' },
            },
          ],
    running: (namespace, target) =>
      used
        ? [
            {
              metadata: { name: '$-user', namespace, labels: { case: '$' } },
              spec: {
                nodeName: `$-n${target}`,
                containers: [{ name: 'main', image: 'pause' }],
                volumes: [{ name: 'data', persistentVolumeClaim: { claimName: '$-claim' } }],
              },
            },
          ]
        : [],
  };
}
