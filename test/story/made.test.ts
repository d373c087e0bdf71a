import { eventually } from '../../tools/support/eventually.ts';
import { ProxmoxFake } from '../drivers/proxmox/proxmox-fake.ts';
import { type HostWorld, startHostWorld } from '../functions/host-harness.ts';

/** Nobody makes nodes of these VMs but this test: their kubelets are not played. */
const machine = { name: 'always-on', cpu: 2, memory: '4Gi', pool: 'metal', bootSeconds: 1 };

let pve: ProxmoxFake;
let world: HostWorld;
beforeAll(async () => {
  pve = await new ProxmoxFake().start();
  world = await startHostWorld(
    [machine],
    {
      autoscaler: {
        thresholds: { for: '1s' },
        scaleDown: { weighBoot: false },
        cooldowns: { afterFailure: '0s' },
      },
      pools: [
        { name: 'metal', limits: { minNodes: 1 } },
        {
          name: 'vms',
          template: {
            provider: 'proxmox',
            mgmtAddress: pve.url,
            bmcCredentials: 'pve',
            options: { vmIDRange: { lower: 1250, upper: 1259 }, networkInterfaces: [{ bridge: 'vmbr0' }] },
            maxSize: { cpu: 8, memory: '16Gi' },
            memoryOverhead: '1Gi',
          },
        },
      ],
    },
    async () => undefined,
    async (name) =>
      name === 'pve' ? { tokenId: 'bamel@pve!scaler', tokenSecret: 'canary-9f3c' } : undefined,
  );
}, 60_000);
afterAll(async () => {
  await world?.close();
  await pve?.close();
});

const machines = async () => (await world.store.list('/baremetal/nodes/vms-1/')).entries;
const state = async () =>
  JSON.parse((await machines()).find(({ key }) => key.endsWith('/status'))?.value ?? '{}').state;

/** What a kubelet does when its pods are deleted. */
async function endPods(): Promise<void> {
  const namespace = 'by-hand';
  const { items } = await world.people.core.listNamespacedPod({ namespace });
  for (const { metadata } of items)
    if (metadata?.deletionTimestamp && metadata.name)
      await world.people.core.deleteNamespacedPod({ namespace, name: metadata.name, gracePeriodSeconds: 0 });
}

test('a VM is made for pods that wait, in their size, and given back when they are gone', async () => {
  await eventually(async () => {
    await world.post('/evaluate-scaling', {});
    await world.post('/join-watcher', {});
    const { status } = await world.people.core.readNode({ name: 'always-on' });
    expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  }, 60_000);
  await world.people.deploy('web', 2, { cpu: '3', memory: '4Gi' });
  await eventually(async () => {
    await world.post('/evaluate-scaling', {});
    expect(pve.vms.size).toBe(1);
  }, 60_000);
  const [vm] = pve.vms.values();
  await eventually(async () => {
    await world.post('/power-action', {});
    expect(vm?.running).toBe(true);
    expect(await state()).toBe('joining');
  }, 60_000);
  // Two pods of 4Gi, and what the system keeps.
  expect(vm?.config).toMatchObject({ name: 'vms-1', cores: '6', memory: `${(8 + 1) * 1024}` });

  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' };
  await world.people.core.createNode({
    body: {
      metadata: { name: 'vms-1', labels: { 'kubernetes.io/hostname': 'vms-1' } },
      status: {
        conditions: [ready],
        allocatable: { cpu: '6', memory: '8Gi', pods: '110' },
        capacity: { cpu: '6', memory: '9Gi', pods: '110' },
        nodeInfo: { bootID: 'boot-1' } as never,
      },
    },
  });
  await eventually(async () => {
    await world.post('/join-watcher', {});
    expect(await state()).toBe('ready');
  }, 60_000);

  await world.people.scale('web', 0);
  await eventually(async () => {
    await endPods();
    await world.post('/evaluate-scaling', {});
    await world.post('/drain-node', {});
    await world.post('/power-action', {});
    await world.post('/join-watcher', {});
    expect(pve.vms.size).toBe(0);
    expect(await machines()).toEqual([]);
    const { items: nodes } = await world.people.core.listNode();
    expect(nodes.map(({ metadata }) => metadata?.name)).not.toContain('vms-1');
  }, 90_000);
  expect(pve.calls.filter((call) => call === 'POST /nodes/{node}/qemu')).toHaveLength(1);
}, 240_000);
