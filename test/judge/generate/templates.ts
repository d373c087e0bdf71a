import type {
  Labels,
  PodTerm,
  Requirement,
  SchedulingRules,
  SpreadRule,
  Toleration,
} from '../../../shared/core/cluster/cluster.ts';
import type { Random } from './random.ts';

export const host = 'kubernetes.io/hostname';
export const zone = 'topology.kubernetes.io/zone';
export const gpu = 'nvidia.com/gpu';
export const zones = ['a', 'b', 'c'] as const;
export const Gi = 2 ** 30;
const Mi = 2 ** 20;

/** What the pods of one workload have in common. */
export interface Template {
  readonly app: string;
  readonly requests: Readonly<Record<string, number>>;
  readonly labels: Labels;
  readonly nodeSelector?: Labels;
  readonly tolerations?: readonly Toleration[];
  readonly rules?: SchedulingRules;
  readonly priority?: number;
  /** Every pod has a claim of its own. */
  readonly volume?: 'bound' | 'zoned' | 'open' | 'once';
}

const equals = (key: string, value: string): Requirement => ({ key, operator: 'In', values: [value] });
const spread = (topologyKey: string, maxSkew: number, selector: Requirement[], more = {}): SpreadRule => ({
  topologyKey,
  maxSkew,
  selector,
  hard: true,
  ...more,
});
const near = (topologyKey: string, selector: Requirement[]): PodTerm => ({ topologyKey, selector });

type Special = Partial<Template>;
type Maker = (random: Random, app: string, apps: number) => Special;

/** Another workload's label, or its own: selectors of both sorts are common. */
const someApp = (random: Random, app: string, apps: number): Requirement[] => [
  equals('app', random.chance(0.6) ? app : `app-${random.int(0, apps - 1)}`),
];

/** What makes the pods of a family special. */
const makers: Readonly<Record<string, Maker>> = {
  plain: () => ({}),
  taints: (random) => ({
    tolerations: random.chance(0.5)
      ? []
      : random.chance(0.5)
        ? [{ key: 'dedicated', operator: 'Equal', value: random.pick(['db', 'web']), effect: 'NoSchedule' }]
        : [{ operator: 'Exists' }],
  }),
  selectors: (random) =>
    random.pick<Special>([
      {},
      { nodeSelector: { disk: random.pick(['ssd', 'hdd', 'tape']) } },
      {
        rules: { nodeAffinity: [{ labels: [{ key: zone, operator: 'NotIn', values: ['a'] }], fields: [] }] },
      },
      {
        rules: {
          nodeAffinity: [{ labels: [{ key: 'generation', operator: 'Gt', values: ['2'] }], fields: [] }],
        },
      },
      {
        rules: {
          nodeAffinity: [
            {
              labels: [equals('disk', 'ssd'), { key: 'generation', operator: 'Lt', values: ['3'] }],
              fields: [],
            },
            { labels: [{ key: 'special', operator: 'Exists', values: [] }], fields: [] },
          ],
        },
      },
      {
        rules: {
          nodeAffinity: [
            { labels: [], fields: [{ key: 'metadata.name', operator: 'NotIn', values: ['off-0', 'on-0'] }] },
          ],
        },
      },
      {
        rules: {
          nodeAffinity: [{ labels: [{ key: 'special', operator: 'DoesNotExist', values: [] }], fields: [] }],
        },
      },
    ]),
  'zone-affinity': (random, app, apps) => ({
    rules: { podAffinity: [near(zone, someApp(random, app, apps))] },
  }),
  'zone-anti-affinity': (random, app, apps) => ({
    rules: random.chance(0.4) ? {} : { podAntiAffinity: [near(zone, someApp(random, app, apps))] },
  }),
  'host-anti-affinity': (random, app, apps) => ({
    rules: random.chance(0.3) ? {} : { podAntiAffinity: [near(host, someApp(random, app, apps))] },
  }),
  'host-spread': (random, app, apps) => ({
    rules: { spread: [spread(host, random.int(1, 3), someApp(random, app, apps))] },
  }),
  'zone-spread': (random, app, apps) => ({
    rules: {
      spread: [
        spread(zone, random.int(1, 3), someApp(random, app, apps), {
          ...(random.chance(0.2) && { minDomains: random.int(2, 3) }),
          ...(random.chance(0.2) && { ignoresAffinity: true }),
          ...(random.chance(0.2) && { honorsTaints: true }),
        }),
      ],
    },
    ...(random.chance(0.2) && { nodeSelector: { disk: 'ssd' } }),
  }),
  volumes: (random) => ({
    ...random.pick<Special>([
      {},
      { volume: 'bound' },
      { volume: 'zoned' },
      { volume: 'open' },
      { volume: 'once' },
    ]),
  }),
  gpu: (random) =>
    random.chance(0.5) ? {} : { requests: { cpu: 1000, memory: 2 * Gi, [gpu]: random.int(1, 4) } },
  ports: (random) => ({
    rules: random.chance(0.4)
      ? {}
      : {
          ports: [
            {
              ip: random.pick(['0.0.0.0', '0.0.0.0', '10.0.0.1', '10.0.0.2']),
              protocol: random.pick(['TCP', 'TCP', 'UDP']),
              port: random.pick([80, 443, 8080]),
            },
          ],
        },
  }),
  priorities: (random) => ({ priority: random.pick([-100, -5, 0, 0, 100, 1000]) }),
  preferences: (random, app) => ({
    rules: {
      nodePreferences: [
        { weight: random.int(1, 100), term: { labels: [equals('disk', 'ssd')], fields: [] } },
      ],
      podPreferences: [
        { weight: random.pick([-50, 50]), term: near(random.pick([host, zone]), [equals('app', app)]) },
      ],
      spread: [{ ...spread(zone, 1, [equals('app', app)]), hard: false }],
    },
  }),
};

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** The pods of Karpenter's scheduling benchmark: a fifth of each sort. */
function karpenterTemplate(random: Random, index: number): Template {
  const label = (): string => random.pick(letters);
  const requests = {
    cpu: random.pick([100, 250, 500, 1000, 1500]),
    memory: random.pick([100, 256, 512, 1024, 2048, 4096]) * Mi,
  };
  const affine = label();
  const sorts: readonly Omit<Template, 'app' | 'requests'>[] = [
    { labels: { 'my-label': label() } },
    { labels: { 'my-label': label() }, rules: { spread: [spread(zone, 1, [equals('my-label', label())])] } },
    { labels: { 'my-label': label() }, rules: { spread: [spread(host, 1, [equals('my-label', label())])] } },
    {
      labels: { 'my-affinity': affine },
      rules: { podAffinity: [near(zone, [equals('my-affinity', affine)])] },
    },
    { labels: { app: 'nginx' }, rules: { podAntiAffinity: [near(host, [equals('app', 'nginx')])] } },
  ];
  return { app: `k-${index}`, requests, ...(sorts[index % 5] ?? { labels: {} }) };
}

export const familyNames = [...Object.keys(makers), 'mixed', 'karpenter'];

export function templateOf(family: string, random: Random, index: number, apps: number): Template {
  if (family === 'karpenter') return karpenterTemplate(random, index);
  const app = `app-${index % apps}`;
  const names = Object.keys(makers);
  const maker = makers[family === 'mixed' ? random.pick(names) : family];
  const cpu = random.pick([100, 250, 500, 1000, 1500, 2000, 4000]);
  return {
    app,
    requests: { cpu, memory: random.pick([1, 2, 4]) * cpu * Mi },
    labels: { app, tier: index % 2 ? 'front' : 'back' },
    ...maker?.(random, app, apps),
  };
}
