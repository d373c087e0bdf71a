import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { deployed } from '../../apps/host/deployed.ts';
import { functionTable } from '../../functions/index.ts';
import { events, foreignEvents } from '../../shared/ports/event-types.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { ofKind } from '../../tools/real-stack/knative/manifests.ts';
import { type Filter, passes } from './filter.ts';

const definitions = functionTable.map(({ definition }) => definition);
const names = deployed.map(({ name }) => name);
const woken = definitions.filter(({ wakesOn }) => wakesOn.length > 0);
const namesOf = (kind: string) => ofKind(kind).map(({ metadata }) => metadata?.name ?? '');

/** What Knative's own webhook would refuse, and the API server takes without a word. */
const Reference = z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() });
const Delivery = z.strictObject({
  retry: z.int().positive(),
  backoffPolicy: z.enum(['linear', 'exponential']),
  backoffDelay: z.string().regex(/^PT[\d.]+S$/),
  deadLetterSink: z.strictObject({ ref: Reference, audience: z.literal('bamel') }),
});
const specs = {
  Broker: z.strictObject({ delivery: Delivery }),
  Trigger: z.strictObject({
    broker: z.literal('bamel'),
    filters: z.array(z.record(z.string(), z.unknown())).length(1),
    subscriber: z.strictObject({ ref: Reference, audience: z.literal('bamel') }),
    delivery: Delivery,
  }),
  PingSource: z.strictObject({
    schedule: z.string().regex(/^(\S+ ){4,5}\S+$/),
    contentType: z.literal('application/json'),
    data: z.literal('{}'),
    sink: z.strictObject({ ref: Reference }),
  }),
} as const;

test('every function and the console have a Service, and every one that is woken a Trigger; nothing else has', () => {
  expect(namesOf('Service')).toEqual(names);
  expect(namesOf('Trigger')).toEqual(woken.map(({ name }) => name));
});

test.each(Object.entries(specs))('%s has the fields and values that Knative knows', (kind, schema) => {
  const found = ofKind(kind);
  expect(found).not.toEqual([]);
  for (const { spec } of found) expect(schema.safeParse(spec).error?.issues ?? []).toEqual([]);
});

test('whatever is referred to is there', () => {
  const text = JSON.stringify(['Broker', 'Trigger', 'PingSource'].map(ofKind));
  const references = [...text.matchAll(/"ref":(\{[^}]*\})/g)].map(([, ref = '']) => JSON.parse(ref));
  expect(references.length).toBeGreaterThan(10);
  for (const { kind, name } of references) expect(namesOf(kind)).toContain(name);
});

describe('a Trigger lets through what wakes its function, and nothing else', () => {
  const others = [
    ...Object.values(events),
    foreignEvents.ping,
    'dev.knative.apiserver.ref.update',
    'com.example.other',
  ].map((type) => ({
    type,
  }));
  test.each(woken)('$name', ({ name, wakesOn }) => {
    const [filter] = (ofKind('Trigger').find(({ metadata }) => metadata?.name === name)?.spec?.filters ??
      []) as Filter[];
    expect(others.filter((event) => passes(filter ?? {}, event)).map(({ type }) => type)).toEqual(
      others.map(({ type }) => type).filter((type) => wakesOn.includes(type)),
    );
  });
});

test('nothing changes a Service after it was made: the broker and its token are declared', () => {
  expect(ofKind('SinkBinding')).toEqual([]);
  const [{ data } = { data: {} }] = ofKind('ConfigMap') as unknown as { data: Record<string, string> }[];
  const [broker] = ofKind('Broker');
  const path = `bamel/${broker?.metadata?.name}`;
  expect(data.K_SINK).toBe(`http://broker-ingress.knative-eventing.svc.cluster.local/${path}`);
  for (const one of [...ofKind('Service'), ...ofKind('Deployment')])
    expect(one.spec).toMatchObject({
      template: {
        spec: {
          containers: [
            {
              envFrom: [{ configMapRef: { name: 'bamel-settings' } }],
              volumeMounts: [{ mountPath: '/oidc', readOnly: true }],
            },
          ],
          volumes: [
            {
              projected: {
                sources: [
                  { serviceAccountToken: { path: 'token', audience: `eventing.knative.dev/broker/${path}` } },
                ],
              },
            },
          ],
        },
      },
    });
});

test('what the settings say is understood', () => {
  const [{ data } = { data: {} }] = ofKind('ConfigMap') as unknown as { data: Record<string, string> }[];
  expect(readSettings([], data)).toMatchObject({
    settings: { host: '0.0.0.0', insecure: false, tokenAudience: 'bamel', config: 'resources:' },
  });
});

test.each(names)('%s runs as nobody in particular, and may write nowhere', (name) => {
  const service = ofKind('Service').find(({ metadata }) => metadata?.name === name);
  expect(service?.spec).toMatchObject({
    template: {
      metadata: {
        annotations: {
          'autoscaling.knative.dev/min-scale': '0',
          'autoscaling.knative.dev/initial-scale': '0',
        },
      },
      spec: {
        serviceAccountName: `bamel-${name}`,
        containers: [
          {
            securityContext: {
              runAsNonRoot: true,
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    },
  });
});

/** The fields of knative/func's own schema that we use; it knows no others at these places. */
const FuncYaml = z.strictObject({
  specVersion: z.literal('0.36.0'),
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  runtime: z.literal('node'),
  image: z.string(),
  created: z.iso.datetime(),
  invoke: z.enum(['cloudevent', 'http']),
  build: z.strictObject({ builder: z.enum(['pack', 's2i']) }),
  run: z.strictObject({ envs: z.array(z.strictObject({ name: z.string().optional(), value: z.string() })) }),
  deploy: z.strictObject({
    serviceAccountName: z.string(),
    annotations: z.record(z.string(), z.string()),
    labels: z.array(z.strictObject({ key: z.string(), value: z.string() })),
    healthEndpoints: z.strictObject({ liveness: z.string(), readiness: z.string() }),
    options: z.strictObject({
      scale: z.strictObject({ min: z.int(), max: z.int() }),
      resources: z.strictObject({
        requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
        limits: z.strictObject({ memory: z.string(), concurrency: z.int() }),
      }),
    }),
  }),
});

test.each(names)('func.yaml of %s', (name) => {
  const text = readFileSync(new URL(`../../knative/func/${name}/func.yaml`, import.meta.url), 'utf8');
  expect(FuncYaml.parse(parse(text)).name).toBe(name);
});
