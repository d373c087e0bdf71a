import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { definitionOf, healthService } from '../../apps/cluster-autoscaler/wire.ts';
import { type Store, StoreError } from '../../shared/ports/store.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { machine } from '../adapters/inventory-harness.ts';
import { closing } from '../support/cleanup.ts';
import { type Bench, joined, openBench, pool, poweredOn } from './harness.ts';

const open = async (...args: Parameters<typeof openBench>): Promise<Bench> =>
  closing(await openBench(...args));

const rack = { id: 'rack' };
const hour = { startTimestamp: { seconds: 3_600 }, endTimestamp: { seconds: 7_200 } };

test('node groups are the pools that are left to the Cluster Autoscaler', async () => {
  const { caller } = await open({
    pools: [pool('rack', { limits: { minNodes: 1, maxNodes: 5 } }), { name: 'ours' }, pool('big')],
    machines: [machine('m-1'), machine('m-2'), machine('m-3', { powerState: 'off' })],
  });
  const { nodeGroups } = await caller.call('NodeGroups');
  expect(nodeGroups.map(({ id, minSize, maxSize }) => [id, minSize, maxSize])).toEqual([
    ['big', 0, 0],
    ['rack', 1, 2],
  ]);
  await expect(caller.call('NodeGroupTargetSize', { id: 'ours' })).rejects.toMatchObject({
    code: status.NOT_FOUND,
  });
});

test('a node is found by its providerID or its name; one that is nobody’s is in the group ""', async () => {
  const { caller, live } = await open({
    pools: [pool(), { name: 'ours' }],
    machines: [machine('m-1', { providerID: 'k3s://left' }), machine('x-1', { pool: 'ours' })],
  });
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  await live('m-1', poweredOn, joined('worker-7', 'k3s://left'));
  const groupOf = async (name: string, providerID: string) =>
    (await caller.call('NodeGroupForNode', { node: { name, providerID } })).nodeGroup.id;
  expect(await groupOf('worker-7', 'k3s://left')).toBe('rack');
  expect(await groupOf('worker-7', '')).toBe('rack');
  expect(await groupOf('k3s://left', 'k3s://left')).toBe('rack');
  expect(await groupOf('control-1', '')).toBe('');
  expect(await groupOf('x-1', 'bamel://x-1')).toBe('');
});

test('an instance is called what its Node is called, once that is known, and before', async () => {
  const { caller, live } = await open({ pools: [pool()], machines: [machine('m-1')] });
  const ids = async () => (await caller.call('NodeGroupNodes', rack)).instances.map(({ id }) => id);
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  expect(await ids()).toEqual(['bamel://m-1']);
  await live('m-1', poweredOn, joined('m-1', 'k3s://m-1'));
  expect(await ids()).toEqual(['k3s://m-1']);
});

test('the template is what most machines are, in both forms; without machines there is none', async () => {
  const { caller } = await open({
    pools: [
      pool('rack', {
        template: { labels: { tier: 'fast' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
      }),
      pool('empty'),
    ],
    machines: [
      machine('m-1', { resources: { cpu: 64, memory: '256Gi' } }),
      machine('m-2', { resources: { cpu: 8, memory: '32Gi', gpu: 2 } }),
      machine('m-3', { resources: { cpu: 8, memory: '32Gi', gpu: 2 } }),
    ],
  });
  const { nodeInfo, nodeBytes } = await caller.call('NodeGroupTemplateNodeInfo', rack);
  expect(nodeInfo).toEqual(nodeBytes);
  expect(nodeBytes).toMatchObject({
    metadata: { labels: { tier: 'fast', 'bamel.dev/pool': 'rack', 'kubernetes.io/os': 'linux' } },
    spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
    status: {
      allocatable: {
        cpu: { string: '8000m' },
        memory: { string: String(32 * 2 ** 30) },
        'nvidia.com/gpu': { string: '2' },
        pods: { string: '110' },
      },
    },
  });
  await expect(caller.call('NodeGroupTemplateNodeInfo', { id: 'empty' })).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
  });
});

test('prices come from rates, or from watts and what a kWh costs', async () => {
  const { caller } = await open(
    {
      pools: [pool()],
      machines: [
        machine('m-1', { pricing: { hourlyRate: 2, podRate: 0.5 } }),
        machine('m-2', { watts: { idle: 100, max: 500 } }),
        machine('m-3'),
      ],
    },
    { kWhPrice: 0.4 },
  );
  const price = async (name: string) =>
    (await caller.call('PricingNodePrice', { node: { name, providerID: `bamel://${name}` }, ...hour })).price;
  expect(await price('m-1')).toBe(2);
  expect(await price('m-2')).toBeCloseTo(0.2);
  await expect(price('m-3')).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  expect((await caller.call('PricingPodPrice', { pod_bytes: Buffer.alloc(0), ...hour })).price).toBe(0.5);
});

test('GPUs are what the inventory says', async () => {
  const label = 'nvidia.com/gpu.product';
  const { caller } = await open({
    pools: [pool()],
    machines: [
      machine('m-1', { resources: { cpu: 4, memory: '8Gi', gpu: 1 }, labels: { [label]: 'L4' } }),
      machine('m-2', { labels: { [label]: 'not-a-gpu-machine' } }),
    ],
  });
  expect((await caller.call('GPULabel')).label).toBe(label);
  expect(Object.keys((await caller.call('GetAvailableGPUTypes')).gpuTypes)).toEqual(['L4']);
});

test('options are not implemented unless wanted, and then echoed', async () => {
  const { caller, another } = await open({ pools: [pool()], machines: [machine('m-1')] });
  const defaults = {
    scaleDownUtilizationThreshold: 0.5,
    zeroOrMaxNodeScaling: true,
    scaleDownUnneededDuration: { seconds: 600, nanos: 5 },
    MaxNodeProvisionDuration: { seconds: 900, nanos: 0 },
    maxNodeProvisionTime: { duration: 900e9 },
  };
  await expect(caller.call('NodeGroupGetOptions', { ...rack, defaults })).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
  });
  const echoing = await another({ options: true });
  const { nodeGroupAutoscalingOptions } = await echoing.call('NodeGroupGetOptions', { ...rack, defaults });
  expect(nodeGroupAutoscalingOptions).toMatchObject(defaults);
});

test('before the first look at the BMCs a round is put off, not answered wrongly', async () => {
  const { caller, store } = await open({ pools: [pool()], machines: [machine('m-1')] });
  await caller.call('Refresh');
  await store.commit([], [{ delete: '/baremetal/nodes/m-1/status' }]);
  await eventually(() =>
    expect(caller.call('Refresh')).rejects.toMatchObject({
      code: status.UNAVAILABLE,
      details: expect.stringContaining('m-1'),
    }),
  );
});

test('without word from the store it says so rather than something wrong', async () => {
  let isCut = false;
  const cut = (store: Store): Store => ({
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    commit: (...args) => store.commit(...args),
    close: () => store.close(),
    watch: (prefix, onChange) => store.watch(prefix, (change) => isCut || onChange(change)),
    async acquire(...args) {
      if (isCut) throw new StoreError('unavailable', 'cut off');
      return store.acquire(...args);
    },
  });
  const { caller, port } = await open(
    { pools: [pool()], machines: [machine('m-1')] },
    { staleAfterMs: 300 },
    cut,
  );
  const health = healthService.Check as ReturnType<typeof definitionOf>;
  const client = closing(new Client(`127.0.0.1:${port}`, credentials.createInsecure()));
  const isServing = () =>
    new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        health.path,
        health.requestSerialize,
        health.responseDeserialize,
        {},
        (error: ServiceError | null, answer?: object) => (error ? reject(error) : resolve(answer)),
      ),
    );
  // An idle store is not a silent one: for longer than that it answers.
  const until = Date.now() + 1_000;
  while (Date.now() < until) expect(await caller.size('rack')).toBe(0);
  expect(await isServing()).toEqual({ status: 1 });
  isCut = true;
  await eventually(() =>
    expect(caller.call('NodeGroupTargetSize', rack)).rejects.toMatchObject({ code: status.UNAVAILABLE }),
  );
  expect(await isServing()).toEqual({ status: 2 });
  isCut = false;
  await eventually(async () => expect(await caller.size('rack')).toBe(0));
});

test('a message that is too large is refused, and a deadline is kept', async () => {
  const { caller, store } = await open({ pools: [pool()], machines: [machine('m-1')] });
  await expect(caller.call('NodeGroupTargetSize', { id: 'x'.repeat(2 ** 20) })).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
  });
  const held = await store.acquire('pool-rack', 10_000, 'somebody else');
  await expect(caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 }, 300)).rejects.toMatchObject({
    code: status.DEADLINE_EXCEEDED,
  });
  await held?.release();
  expect(await caller.size('rack')).toBe(0);
});

test('the wire is what the Cluster Autoscaler writes and reads', () => {
  const read = definitionOf('NodeGroupDecreaseTargetSize').requestDeserialize;
  // delta=-1 is ten bytes of varint; id="rack".
  expect(read(Buffer.from('08ffffffffffffffffff0112047261636b', 'hex'))).toEqual({ delta: -1, id: 'rack' });
  const write = definitionOf('NodeGroupNodes').responseSerialize;
  const instances = [
    { id: 'a', status: { instanceState: 2, errorInfo: { errorCode: 'e', instanceErrorClass: 99 } } },
  ];
  expect(write({ instances }).toString('hex')).toBe('0a0e0a0161120908021205' + '0a01651863');
  expect(definitionOf('NodeGroupGetOptions').path).toBe(
    '/clusterautoscaler.cloudprovider.v1.externalgrpc.CloudProvider/NodeGroupGetOptions',
  );
});
