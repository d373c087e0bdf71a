import * as client from '@kubernetes/client-node';
import { createKubeClient } from '../../../shared/adapters/kubernetes/client.ts';
import { toNode } from '../../../shared/adapters/kubernetes/convert.ts';
import { kubeJobs } from '../../../shared/adapters/kubernetes/jobs.ts';
import { nodeEvidence } from '../../../shared/adapters/kubernetes/node-evidence.ts';
import { type KubeTransport, kubeTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { ClusterError } from '../../../shared/ports/cluster.ts';
import type { Jobs } from '../../../shared/ports/kubernetes-objects.ts';
import type { DriverDeps } from '../../../shared/ports/power.ts';
import { PowerError } from '../../../shared/ports/power.ts';
import { type LabApi, startApi } from '../../../simulator/lab/api/index.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { failing, machineSpec } from '../harness.ts';

const namespace = 'default';
const merge = client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch);

const clientOf = (transport: KubeTransport) =>
  createKubeClient(transport, { readMs: 10_000, writeMs: 10_000 });

let api: LabApi;
let jobs: Jobs;
let batch: client.BatchV1Api;
let core: client.CoreV1Api;
beforeAll(async () => {
  api = await startApi({});
  const kubeConfig = new client.KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  jobs = kubeJobs(clientOf(kubeTransport(kubeConfig)));
  batch = kubeConfig.makeApiClient(client.BatchV1Api);
  core = kubeConfig.makeApiClient(client.CoreV1Api);
});
afterAll(() => api.close());

const job = (name: string, operation: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name,
    labels: { 'bamel.dev/machine': 'mini-1' },
    annotations: { 'bamel.dev/operation': operation },
  },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
});
const ends = (name: string, type: 'Complete' | 'Failed', at: string) =>
  batch.patchNamespacedJobStatus(
    {
      namespace,
      name,
      body: {
        status: { conditions: [{ type, status: 'True', reason: `${type}Reason`, lastTransitionTime: at }] },
      },
    },
    merge,
  );

test('a Job is made once, and read as it goes', async () => {
  await jobs.ensure(undefined, job('op-1-on', 'op-1'));
  await jobs.ensure(namespace, job('op-1-on', 'op-1'));
  expect(await jobs.read(namespace, 'op-1-on')).toEqual({ phase: 'running' });
  await ends('op-1-on', 'Complete', '2026-01-02T03:04:05Z');
  const finishedAt = Date.parse('2026-01-02T03:04:05Z');
  expect(await jobs.read(undefined, 'op-1-on')).toEqual({ phase: 'succeeded', finishedAt });
  expect(await jobs.read(namespace, 'op-none')).toBeUndefined();
});

test('of several, the one that finished last counts', async () => {
  for (const [name, type, at] of [
    ['old', 'Complete', '2026-01-02T00:00:00Z'],
    ['new', 'Failed', '2026-01-04T00:00:00Z'],
    ['older', 'Complete', '2026-01-01T00:00:00Z'],
  ] as const) {
    await jobs.ensure(namespace, { ...job(name, name), metadata: { name, labels: { of: 'health' } } });
    await ends(name, type, at);
  }
  await jobs.ensure(namespace, {
    ...job('running', 'x'),
    metadata: { name: 'running', labels: { of: 'health' } },
  });
  expect(await jobs.latest(namespace, { of: 'health' })).toMatchObject({
    phase: 'failed',
    message: 'FailedReason',
    finishedAt: Date.parse('2026-01-04T00:00:00Z'),
  });
  expect(await jobs.latest(namespace, { of: 'nothing' })).toBeUndefined();
});

test('a Job of another operation under that name is not ours', async () => {
  await jobs.ensure(namespace, job('op-2-on', 'op-2'));
  const error = await failing(() => jobs.ensure(namespace, job('op-2-on', 'op-3')));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('not of this operation') });
});

describe('what the API server answers', () => {
  const answering = async (status: number, headers: Record<string, string> = {}) => {
    const answer = { status, headers, text: JSON.stringify({ message: 'because' }) };
    const refusing = kubeJobs(
      clientOf({ send: async () => answer } as Partial<KubeTransport> as KubeTransport),
    );
    const { code, retryAfterMs } = await failing(() => refusing.read(namespace, 'any'));
    return { code, retryAfterMs };
  };

  test.each([
    [401, 'refused'],
    [403, 'refused'],
    [422, 'config'],
    [400, 'config'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ] as const)('%d: %s', async (status, code) => {
    expect(await answering(status)).toMatchObject({ code });
  });

  test('429: busy, for as long as it says', async () => {
    expect(await answering(429, { 'retry-after': '7' })).toEqual({ code: 'busy', retryAfterMs: 7_000 });
  });

  test('nothing at all: unreachable', async () => {
    const kubeconfig = api.kubeconfig().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9');
    const gone = kubeJobs(clientOf(kubeTransport({ kubeconfig })));
    expect((await failing(() => gone.read(namespace, 'any'))).code).toBe('unreachable');
  });
});

describe('what is known of a node', () => {
  const now = Date.parse('2026-01-02T03:05:00Z');
  const nodeOf = (
    view: () => Promise<{ pods: []; nodes: ReturnType<typeof toNode>[] }>,
  ): DriverDeps['nodeOf'] =>
    nodeEvidence({ view }, clientOf(kubeTransport({ kubeconfig: api.kubeconfig() })), { now: () => now });
  const view = async (): Promise<{ pods: []; nodes: ReturnType<typeof toNode>[] }> => ({
    pods: [],
    nodes: (await core.listNode()).items.map(toNode),
  });
  const spec = machineSpec('10.0.0.5', { name: 'mini-1' });

  test('nothing, of one that is not there', async () => {
    expect(await nodeOf(view)(spec)).toBeUndefined();
  });

  test('whether it is Ready, which boot it is in, where it is, and when it was last heard of', async () => {
    await core.createNode({ body: { metadata: { name: 'mini-1' } } });
    const seen = () => eventually(() => nodeOf(view)(spec));
    expect(await seen()).toMatchObject({ node: 'mini-1', ready: false, addresses: [] });
    expect((await seen())?.heartbeatAgeMs).toBeUndefined();
    await core.patchNodeStatus(
      {
        name: 'mini-1',
        body: {
          status: {
            conditions: [{ type: 'Ready', status: 'True', reason: 'x', message: 'x' }],
            addresses: [
              { type: 'Hostname', address: 'mini-1' },
              { type: 'InternalIP', address: '10.0.0.5' },
            ],
            nodeInfo: { bootID: 'boot-7' },
          },
        },
      },
      merge,
    );
    const kubeConfig = new client.KubeConfig();
    kubeConfig.loadFromString(api.kubeconfig());
    const leases = kubeConfig.makeApiClient(client.CoordinationV1Api);
    const renewTime = new client.V1MicroTime(Date.parse('2026-01-02T03:04:48Z'));
    await leases.createNamespacedLease({
      namespace: 'kube-node-lease',
      body: { metadata: { name: 'mini-1' }, spec: { holderIdentity: 'mini-1', renewTime } },
    });
    expect(await seen()).toEqual({
      node: 'mini-1',
      ready: true,
      bootID: 'boot-7',
      heartbeatAgeMs: 12_000,
      addresses: ['10.0.0.5'],
    });
  });

  test('a cluster that is away leaves the power unknown', async () => {
    const away = nodeOf(() => Promise.reject(new ClusterError('unavailable', 'gone')));
    await expect(away(spec)).rejects.toThrow(new PowerError('unreachable', 'gone'));
  });
});
