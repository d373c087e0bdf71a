import { CoreV1Api, type KubeConfig } from '@kubernetes/client-node';
import type { ControlPlane } from '../control-plane.ts';
import { createObject, writeStatus } from '../objects.ts';
import type { Program } from '../process.ts';
import { waitFor } from '../wait.ts';
import { installKnativeDefinitions } from './knative-crds.ts';
import { type Island, makeIsland } from './knative-namespace.ts';
import { type Manifest, manifestsIn } from './manifests.ts';

export const brokerPrograms = [
  'knative-broker-ingress',
  'knative-broker-filter',
  'knative-channel-dispatcher',
] as const;

export const namespace = 'bamel';
const system = 'knative-eventing';
const ports = { ingress: 26_080, filter: 26_081, channel: 8080 } as const;
const channelName = 'bamel-kne-trigger';
const local = (port: number, path: string) => `http://127.0.0.1:${port}${path}`;
const ingressUrl = local(ports.ingress, `/${namespace}/bamel`);
const channelUrl = local(ports.channel, `/${namespace}/${channelName}`);

export interface KnativeBroker {
  readonly island: Island;
  /** Where events are posted to, out here. */
  readonly url: string;
  /** The same, in there. */
  readonly insideUrl: string;
  readonly ingress: Program;
  readonly filter: Program;
  readonly dispatcher: Program;
  /** What programs of Knative need to find the API server, in there. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Knative's broker: our Broker and Triggers as they are, routed by the real ingress, in-memory channel and filter.
 * Its controllers only resolve names to addresses, which is done here instead.
 */
export async function startKnativeBroker(
  plane: ControlPlane,
  /** Where each function listens on 127.0.0.1, by name. */
  functions: Readonly<Record<string, number>>,
): Promise<KnativeBroker> {
  await using cleanup = new AsyncDisposableStack();
  const { kubeConfig } = plane;
  await prepareCluster(kubeConfig);
  await installKnativeDefinitions(kubeConfig);
  await applyRoutes(kubeConfig, functions);

  const island = await makeIsland();
  cleanup.defer(() => island.close());
  await island.reach(plane.port);
  for (const port of Object.values(functions)) await island.reach(port);
  const [ingressPort, filterPort, channelPort] = [
    await island.publish(ports.ingress),
    await island.publish(ports.filter),
    await island.publish(ports.channel),
  ];

  const env = { KUBECONFIG: plane.kubeConfigFile, SYSTEM_NAMESPACE: system, HOME: '/nonexistent' };
  const named = (name: string) => ({ ...env, POD_NAME: name, CONTAINER_NAME: name });
  const answers = (port: number) => async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status < 500 || undefined;
  };
  const [ingress, filter, dispatcher] = await Promise.all([
    island.start(
      'knative-broker-ingress',
      { ...named('ingress'), INGRESS_PORT: String(ports.ingress), INGRESS_PORT_HTTPS: '26443' },
      { ready: answers(ingressPort) },
    ),
    island.start(
      'knative-broker-filter',
      {
        ...named('filter'),
        NAMESPACE: system,
        FILTER_PORT: String(ports.filter),
        FILTER_PORT_HTTPS: '26444',
      },
      { ready: answers(filterPort) },
    ),
    island.start(
      'knative-channel-dispatcher',
      { ...named('dispatcher'), MAX_IDLE_CONNS: '1000', MAX_IDLE_CONNS_PER_HOST: '100' },
      { args: ['--disable-ha'], ready: answers(channelPort) },
    ),
  ]);
  const owned = cleanup.move();
  return {
    island,
    url: `http://127.0.0.1:${ingressPort}/${namespace}/bamel`,
    insideUrl: ingressUrl,
    ingress,
    filter,
    dispatcher,
    env,
    close: () => owned.disposeAsync(),
  };
}

async function prepareCluster(kubeConfig: KubeConfig): Promise<void> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  for (const name of [namespace, system]) await core.createNamespace({ body: { metadata: { name } } });
  for (const name of ['config-logging', 'config-observability', 'config-features'])
    await core.createNamespacedConfigMap({ namespace: system, body: { metadata: { name }, data: {} } });
}

interface Destination {
  readonly ref: { readonly name: string };
  readonly audience: string;
}

interface TriggerSpec {
  readonly subscriber: Destination;
  readonly delivery: { readonly deadLetterSink: Destination };
}

/** Of all Triggers here; the controller makes one for each. */
const triggerAccount = 'bamel-triggers-oidc';
export const triggerCaller = `system:serviceaccount:${namespace}:${triggerAccount}`;

async function applyRoutes(
  kubeConfig: KubeConfig,
  functions: Readonly<Record<string, number>>,
): Promise<void> {
  const create = (object: Manifest) =>
    createObject(kubeConfig, { ...object, metadata: { namespace, ...object.metadata } });
  const addressOf = (service: string): string => local(functions[service] ?? 0, '/');
  const [broker] = manifestsIn('broker');
  if (!broker) throw new Error('knative/broker.yaml has no Broker');
  await writeStatus(kubeConfig, await create(broker), {
    address: { url: ingressUrl },
    annotations: { 'knative.dev/channelAddress': channelUrl },
  });
  await create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: triggerAccount } });
  const subscribers: object[] = [];
  for (const manifest of manifestsIn('triggers')) {
    const trigger = await create(manifest);
    const { name = '', uid = '' } = trigger.metadata ?? {};
    const { delivery, subscriber } = manifest.spec as unknown as TriggerSpec;
    const { deadLetterSink, ...retries } = delivery;
    await writeStatus(kubeConfig, trigger, {
      subscriberUri: addressOf(subscriber.ref.name),
      subscriberAudience: subscriber.audience,
      deadLetterSinkUri: addressOf(deadLetterSink.ref.name),
      deadLetterSinkAudience: deadLetterSink.audience,
      auth: { serviceAccountName: triggerAccount },
    });
    const path = local(ports.filter, `/triggers/${namespace}/${name}/${uid}`);
    subscribers.push({
      uid,
      generation: 1,
      subscriberUri: path,
      replyUri: ingressUrl,
      delivery: { ...retries, deadLetterSink: { uri: `${path}/dls` } },
    });
  }
  const channel = await create({
    apiVersion: 'messaging.knative.dev/v1',
    kind: 'InMemoryChannel',
    metadata: { name: channelName },
    spec: { subscribers },
  });
  await writeStatus(kubeConfig, channel, {
    observedGeneration: channel.metadata?.generation ?? 1,
    address: { url: channelUrl },
    conditions: [{ type: 'Ready', status: 'True' }],
  });
}

export interface SentEvent {
  readonly type: string;
  readonly id?: string;
  readonly subject?: string;
  readonly data?: object;
  readonly extensions?: Readonly<Record<string, string>>;
}

/** Posts one CloudEvent and gives the status it was answered with. */
export async function postEvent(
  url: string,
  { type, id = crypto.randomUUID(), subject, data = {}, extensions = {} }: SentEvent,
): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': '/test',
      'ce-type': type,
      ...(subject && { 'ce-subject': subject }),
      ...Object.fromEntries(Object.entries(extensions).map(([name, value]) => [`ce-${name}`, value])),
    },
    body: JSON.stringify(data),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The first event through: the channel has read its subscribers. */
export const untilRouted = (url: string, arrived: () => boolean, event: SentEvent): Promise<true> =>
  waitFor(
    'the first event through the broker',
    async () => {
      await postEvent(url, event);
      return arrived() || undefined;
    },
    { everyMs: 500 },
  );
