import type {
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodSpec,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import type { Random } from '../../fuzz/random.ts';
import { zones } from './fleet.ts';
import { boundVolume, gpu, hostLabel, podObject, type Requests, zoneLabel } from './objects.ts';

/** The pods of one application, and the volumes that they use. */
export interface App {
  readonly kind: AppKind;
  readonly pods: readonly V1Pod[];
  readonly requests: Requests;
  readonly volumes: readonly V1PersistentVolume[];
  readonly claims: readonly V1PersistentVolumeClaim[];
}

export const priorities = { low: 100, high: 100_000 } as const;

interface Draft {
  readonly owner: string;
  readonly replicas: number;
  readonly requests: Requests;
  readonly spec: Partial<V1PodSpec>;
  readonly volumeZones?: readonly string[];
}

const own = (app: string) => ({ matchLabels: { app } });
const antiAffinity = (app: string, topologyKey: string): Partial<V1PodSpec> => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: own(app) }],
    },
  },
});
const spread = (
  app: string,
  topologyKey: string,
  maxSkew: number,
  hard: boolean,
): V1TopologySpreadConstraint => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable: hard ? 'DoNotSchedule' : 'ScheduleAnyway',
  labelSelector: own(app),
});
const between = (random: Random, least: number, most: number): number =>
  least + random.below(most - least + 1);
const priority = (random: Random, name: keyof typeof priorities): Partial<V1PodSpec> =>
  random.chance(0.4) ? { priorityClassName: name } : {};

/** One row per kind of application that people run. */
const kinds = {
  /** A database: one per host, every replica where its volume is. */
  stateful: (random, app): Draft => {
    const first = random.below(zones.length);
    return {
      owner: 'StatefulSet',
      replicas: between(random, 3, 12),
      requests: random.pick([small, { cpu: 2000, memory: 8192 }, { cpu: 4000, memory: 16_384 }]),
      spec: { ...antiAffinity(app, hostLabel), ...priority(random, 'high') },
      volumeZones: zones.map((_, index) => zones[(first + index) % zones.length] as string),
    };
  },
  /** Spread over the zones by force, over the hosts by force or by wish. */
  web: (random, app): Draft => ({
    owner: 'ReplicaSet',
    replicas: between(random, 6, 60),
    requests: random.pick([small, { cpu: 1000, memory: 2048 }, { cpu: 1500, memory: 3072 }]),
    spec: {
      topologySpreadConstraints: [
        spread(app, zoneLabel, 1, true),
        ...(random.chance(0.7) ? [spread(app, hostLabel, random.pick([1, 2, 5]), random.chance(0.4))] : []),
      ],
      ...priority(random, 'high'),
    },
  }),
  /** Ingress and the like: one per host, wherever. */
  'one-per-host': (random, app): Draft => ({
    owner: 'ReplicaSet',
    replicas: between(random, 2, 8),
    requests: small,
    spec: antiAffinity(app, hostLabel),
  }),
  /** Wishes only. */
  plain: (random, app): Draft => ({
    owner: 'ReplicaSet',
    replicas: between(random, 5, 80),
    requests: random.pick([{ cpu: 250, memory: 512 }, small, { cpu: 750, memory: 4096 }]),
    spec: {
      ...(random.chance(0.5) && {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 50,
                preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['nvme'] }] },
              },
            ],
          },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 100, podAffinityTerm: { topologyKey: hostLabel, labelSelector: own(app) } },
            ],
          },
        },
      }),
      ...(random.chance(0.5) && { topologySpreadConstraints: [spread(app, zoneLabel, 1, false)] }),
    },
  }),
  job: (random): Draft => ({
    owner: 'Job',
    replicas: between(random, 5, 60),
    requests: random.pick([
      { cpu: 1000, memory: 2048 },
      { cpu: 2000, memory: 4096 },
      { cpu: 3500, memory: 6144 },
    ]),
    spec: {
      restartPolicy: 'Never',
      ...(random.chance(0.4) && { nodeSelector: random.pick([{ disk: 'nvme' }, { tier: 'dense' }]) }),
      ...priority(random, 'low'),
    },
  }),
  gpu: (random): Draft => ({
    owner: random.pick(['Job', 'ReplicaSet']),
    replicas: between(random, 2, 12),
    requests: { cpu: 4000, memory: 16_384, gpus: random.pick([1, 1, 2, 4]) },
    spec: {
      tolerations: [{ key: gpu, operator: 'Exists', effect: 'NoSchedule' }],
      ...(random.chance(0.5) && { nodeSelector: { accelerator: 'a100' } }),
    },
  }),
} satisfies Record<string, (random: Random, app: string) => Draft>;

const small: Requests = { cpu: 500, memory: 1024 };

export type AppKind = keyof typeof kinds;
export const appKinds = Object.keys(kinds) as AppKind[];

/** At most `most` pods of the kind. */
export function createApp(kind: AppKind, app: string, most: number, random: Random): App {
  const draft = kinds[kind](random, app);
  const owner = { kind: draft.owner, name: app };
  const volumes: V1PersistentVolume[] = [];
  const claims: V1PersistentVolumeClaim[] = [];
  const pods = Array.from({ length: Math.min(most, draft.replicas) }, (_, index): V1Pod => {
    const name = `${app}-${index}`;
    const zone = draft.volumeZones?.[index % draft.volumeZones.length];
    if (zone === undefined)
      return podObject({
        name,
        labels: { app, group: app },
        owner,
        requests: draft.requests,
        spec: draft.spec,
      });
    const bound = boundVolume(name, zone);
    volumes.push(bound.volume);
    claims.push(bound.claim);
    const data = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
    return podObject({
      name,
      labels: { app, group: `${app}-${zone}` },
      owner,
      requests: draft.requests,
      spec: { ...draft.spec, volumes: data },
    });
  });
  return { kind, pods, requests: draft.requests, volumes, claims };
}
