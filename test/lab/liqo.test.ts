import { generateKeyPairSync, sign } from 'node:crypto';
import type { Pod } from '../../simulator/lab/api/objects.ts';
import { disruptionBudgets, nodes, pods } from '../../simulator/lab/api/resource-types.ts';
import { foreignClusters, resourceSlices, virtualNodes } from '../../simulator/lab/liqo/types.ts';
import { type LiqoOptions, liqoInMemory } from '../../simulator/lab/liqo.ts';
import { manualClock } from '../../simulator/lab/rack/clock.ts';

const namespace = 'liqo-tenant-north';
const signal = new AbortController().signal;
const sliceDraft = (resources: Record<string, string> = { cpu: '2', memory: '4Gi' }) => ({
  metadata: {
    name: 'lent-1',
    namespace,
    labels: {
      'liqo.io/remote-cluster-id': 'north',
      'liqo.io/remoteID': 'north',
      'liqo.io/replication': 'true',
    },
    annotations: { 'liqo.io/create-virtual-node': 'true' },
  },
  spec: { class: 'default', providerClusterID: 'north', resources },
});

function start(options: Partial<LiqoOptions> = {}) {
  const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'));
  const liqo = liqoInMemory({ providers: { north: undefined }, ...options, clock });
  liqo.peer('north');
  clock.advance(1_000);
  const { store } = liqo;
  return {
    ...liqo,
    clock,
    north: liqo.provider('north'),
    take: (draft: object = sliceDraft()) => {
      store.create(resourceSlices, draft as ReturnType<typeof sliceDraft>);
      clock.advance(2_000);
    },
    giveBack: () => store.delete(resourceSlices, namespace, 'lent-1'),
    slice: () => store.get(resourceSlices, namespace, 'lent-1'),
    virtualNode: () => store.get(virtualNodes, namespace, 'lent-1'),
    node: () => store.get(nodes, undefined, 'lent-1'),
    verdict: () =>
      store
        .get(resourceSlices, namespace, 'lent-1')
        ?.status?.conditions?.map(({ type, status }) => `${type} ${status}`),
    ready: () =>
      store.get(nodes, undefined, 'lent-1')?.status.conditions?.find(({ type }) => type === 'Ready')?.status,
    runPod: (name: string) =>
      store.place({
        ...store.create(pods, {
          metadata: { name, namespace: 'default', labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'example/main' }] },
        } as object as Pod),
        spec: { containers: [{ name: 'main' }], nodeName: 'lent-1' },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      }),
  };
}

describe('the lab plays Liqo as strictly as it is', () => {
  test('a slice becomes a Ready node with the taint, the labels and no providerID', () => {
    const world = start();
    world.take();
    expect(world.verdict()).toEqual(['Authentication Accepted', 'Resources Accepted']);
    expect(world.node()).toMatchObject({
      metadata: { labels: { 'liqo.io/type': 'virtual-node', 'liqo.io/remote-cluster-id': 'north' } },
      spec: {
        taints: expect.arrayContaining([
          { key: 'virtual-node.liqo.io/not-allowed', value: 'true', effect: 'NoExecute' },
        ]),
      },
      status: { allocatable: { cpu: '2', memory: '4Gi', pods: '110' } },
    });
    expect(world.node()?.spec.providerID).toBeUndefined();
    expect(world.ready()).toBe('True');
  });

  test('a slice without the labels of the replication is never looked at', () => {
    const world = start();
    const draft = sliceDraft();
    world.take({
      ...draft,
      metadata: { ...draft.metadata, labels: { 'liqo.io/remote-cluster-id': 'north' } },
    });
    expect(world.verdict()).toBeUndefined();
    expect(world.node()).toBeUndefined();
  });

  test('the VirtualNode says Running before there is a Node', () => {
    const world = start({ times: { nodeMs: 60_000 } });
    world.take();
    expect(world.virtualNode()?.status?.conditions).toContainEqual({ type: 'Node', status: 'Running' });
    expect(world.node()).toBeUndefined();
  });

  test('another class waits, a partial grant is what the node has, a change of the slice resizes', () => {
    const world = start({
      providers: {
        north: (asked, { spec }) => (spec.class === 'gold' ? { granted: { ...asked, cpu: '1' } } : undefined),
      },
    });
    world.take();
    expect(world.verdict()).toEqual(['Authentication Accepted']);
    const slice = world.slice();
    if (slice) world.store.update(resourceSlices, { ...slice, spec: { ...slice.spec, class: 'gold' } });
    world.clock.advance(2_000);
    expect(world.node()?.status.allocatable).toMatchObject({ cpu: '1', memory: '4Gi' });
    world.north.setJudge((asked) => ({ granted: { ...asked } }));
    world.clock.advance(2_000);
    expect(world.node()?.status.allocatable).toMatchObject({ cpu: '2' });
  });

  test('the slice is gone before the node is, and a budget keeps the node with its pods', () => {
    const world = start();
    world.take();
    world.runPod('web-1');
    const budget = world.store.create(disruptionBudgets, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    world.giveBack();
    world.clock.advance(60_000);
    expect(world.slice()).toBeUndefined();
    expect([world.virtualNode()?.metadata.deletionTimestamp, world.ready()]).toEqual([
      expect.any(String),
      'True',
    ]);
    world.store.delete(disruptionBudgets, 'default', budget.metadata.name);
    world.clock.advance(1_000);
    // Nobody plays the kubelet here: the pod has been told to go.
    expect(world.store.get(pods, 'default', 'web-1')?.metadata.deletionTimestamp).toBeDefined();
    world.store.delete(pods, 'default', 'web-1', { gracePeriodSeconds: 0 });
    world.clock.advance(1_000);
    expect([world.virtualNode(), world.node()]).toEqual([undefined, undefined]);
  });

  test('a VirtualNode deleted alone is made anew; a name used again soon takes its time', () => {
    const world = start();
    world.take();
    world.store.delete(virtualNodes, namespace, 'lent-1');
    world.clock.advance(2_000);
    expect(world.virtualNode()?.metadata.deletionTimestamp).toBeUndefined();
    expect(world.node()).toBeUndefined();
    world.clock.advance(20_000);
    expect(world.ready()).toBe('True');
  });

  test('a silent provider: Accepted stays, Error after 15 s, Unknown after 35 s, a deletion hangs', () => {
    const world = start();
    world.take();
    const { clock, store, north } = world;
    const server = () => store.get(foreignClusters, undefined, 'north')?.status?.conditions?.[0]?.status;
    north.setReachable(false);
    clock.advance(14_000);
    expect([server(), world.ready()]).toEqual(['Established', 'True']);
    clock.advance(2_000);
    expect([server(), world.ready()]).toEqual(['Error', 'True']);
    clock.advance(20_000);
    expect([world.verdict()?.[1], world.ready()]).toEqual(['Resources Accepted', 'Unknown']);
    world.giveBack();
    clock.advance(600_000);
    expect(world.slice()?.metadata.deletionTimestamp).toBeDefined();
    expect([...north.slices.keys()]).toEqual(['lent-1']);
    north.setReachable(true);
    clock.advance(2_000);
    expect([world.slice(), world.virtualNode(), world.node(), north.slices.size]).toEqual([
      undefined,
      undefined,
      undefined,
      0,
    ]);
  });

  test('a drained tenant is Denied with its node Ready; denied is not final', () => {
    const world = start();
    world.take();
    world.north.setTenant('Drained');
    world.clock.advance(2_000);
    expect([world.verdict()?.[1], world.ready()]).toEqual(['Resources Denied', 'True']);
    world.north.setTenant('Active');
    world.clock.advance(2_000);
    expect(world.verdict()?.[1]).toBe('Resources Accepted');
  });

  test('peering: nonces are signed, a wrong signature or a second use gets nothing', async () => {
    const world = start();
    const { clock, north, objects } = world;
    const labels = { 'liqo.io/signed-nonce': 'true', 'liqo.io/remote-cluster-id': 'north' };
    const path = `/api/v1/namespaces/${namespace}/secrets/liqo-signed-nonce`;
    const stringData = { nonce: north.nonce('consumer') };
    await objects.ensure(path, { metadata: { name: 'liqo-signed-nonce', labels }, stringData }, signal);
    clock.advance(1_000);
    const data = async (at: string) =>
      ((await objects.get(at, signal))?.data ?? {}) as Readonly<Record<string, string>>;
    const { signedNonce = '' } = await data(path);
    const { publicKey = '' } = await data('/api/v1/namespaces/liqo/secrets/authentication-keys');
    const pem = Buffer.from(publicKey, 'base64').toString();
    const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
    const request = {
      clusterID: 'consumer',
      publicKey: der.subarray(-32).toString('base64'),
      csr: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----').toString('base64'),
      signature: signedNonce,
    };
    const { privateKey } = generateKeyPairSync('ed25519');
    const forged = sign(null, Buffer.from(stringData.nonce), privateKey).toString('base64');
    expect(north.exchange({ ...request, signature: forged })).toBeUndefined();
    expect(north.exchange(request)).toMatchObject({ tenantNamespace: 'liqo-tenant-consumer' });
    expect(north.exchange(request)).toBeUndefined();
  });
});
