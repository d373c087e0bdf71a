import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, type KubeConfig, type V1Pod, Watch } from '@kubernetes/client-node';
import type { NodeOptions } from './cluster-kubelet.ts';

export interface ClusterHarness {
  kubeConfig: KubeConfig;
  /** A Ready node on which pods get run. */
  addNode(name: string, options?: NodeOptions): Promise<void>;
  removeNode(name: string): Promise<void>;
  /** Makes the resourceVersions up to now expire. */
  compact?(): Promise<void>;
  close(): Promise<void>;
}

/** Polls until `read` gives something; what it throws on the way counts as "not yet". */
export async function until<T>(
  what: string,
  read: () => Promise<T | undefined | false>,
  seconds = 25,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await read();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    await sleep(25);
  }
  throw new Error(`waited in vain until ${what}`, { cause: last });
}

/** The fields the tests look at. What an answer really has, they assert. */
interface Body {
  kind: string;
  reason: string;
  message: string;
  code: number;
  details: { causes: { field: string; reason: string; message: string }[]; retryAfterSeconds?: number };
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    deletionGracePeriodSeconds?: number;
    labels: Record<string, string>;
    finalizers: string[];
    continue: string;
  };
  data: Record<string, string>;
  spec: {
    priority: number;
    nodeName?: string;
    taints: object[];
    template: { spec: { containers: { env: object[] }[]; tolerations: object[] } };
  };
  status: {
    phase: string;
    collisionCount?: number;
    conditions: { type: string; status: string; reason?: string }[];
  };
  items: Body[];
  groups: { name: string }[];
  resources: { name: string }[];
}

export interface Answer {
  code: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
}

export interface Call {
  body?: unknown;
  type?: string;
}

/** A request as it goes over the wire, and the answer whatever its code. */
export async function send(
  kubeConfig: KubeConfig,
  method: string,
  path: string,
  call: Call = {},
): Promise<Answer> {
  const cluster = kubeConfig.getCurrentCluster();
  const url = new URL(`${cluster?.server}${path}`);
  const text = typeof call.body === 'string' ? call.body : JSON.stringify(call.body);
  const options: RequestOptions = {
    method,
    headers:
      text === undefined
        ? {}
        : { 'content-type': call.type ?? 'application/json', 'content-length': Buffer.byteLength(text) },
  };
  await kubeConfig.applyToHTTPSOptions(options);
  const start = url.protocol === 'http:' ? httpRequest : httpsRequest;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { agent: _, ...rest } = options;
  const outgoing = start(url, url.protocol === 'http:' ? rest : options, async (response) => {
    let answer = '';
    for await (const chunk of response.setEncoding('utf8')) answer += chunk;
    const json = response.headers['content-type']?.includes('json');
    resolve({
      code: response.statusCode ?? 0,
      headers: response.headers,
      body: json ? JSON.parse(answer) : answer,
    });
  });
  outgoing.on('error', reject);
  outgoing.end(text);
  return promise;
}

export interface Seen {
  type: string;
  object: Body;
}

/** An open watch: what it has said so far. */
export interface OpenWatch {
  seen: Seen[];
  ended: Promise<void>;
  stop(): void;
}

export async function openWatch(
  kubeConfig: KubeConfig,
  path: string,
  query: Record<string, string | number | boolean> = {},
): Promise<OpenWatch> {
  const seen: Seen[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const controller = await new Watch(kubeConfig).watch(
    path,
    query,
    (type, object) => seen.push({ type, object }),
    () => resolve(),
  );
  return { seen, ended, stop: () => controller.abort() };
}

/** A namespace of its own for each test. */
export async function freshNamespace(kubeConfig: KubeConfig): Promise<string> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const { metadata } = await core.createNamespace({ body: { metadata: { generateName: 'contract-' } } });
  const namespace = metadata?.name ?? '';
  // The real server refuses pods before this is there.
  await until('the namespace has a service account', () =>
    core.readNamespacedServiceAccount({ namespace, name: 'default' }),
  );
  return namespace;
}

export const pause = { name: 'main', image: 'registry.example/pause' };

export const podSpec = (requests: Record<string, string> = {}) => ({
  containers: [{ ...pause, resources: { requests } }],
});

export const isReady = ({ status }: V1Pod) =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

export const conditionOf = ({ status }: V1Pod, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
