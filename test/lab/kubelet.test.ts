import { setTimeout as sleep } from 'node:timers/promises';
import { type LabApi, startApi } from '../../simulator/lab/api/index.ts';
import { accessFromKubeconfig, connectKube, type KubeApi } from '../../simulator/lab/kubelet/kube-api.ts';
import { type KubeletOptions, type Kubelets, startKubelets } from '../../simulator/lab/kubelet/kubelets.ts';
import { hostOf } from '../../simulator/lab/kubelet/node-object.ts';
import { manualClock, realClock } from '../../simulator/lab/rack/clock.ts';
import type { MachineInput } from '../../simulator/lab/rack/description.ts';
import { SimulatedMachine } from '../../simulator/lab/rack/machine.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const pods = '/api/v1/namespaces/default/pods';

let api: LabApi;
let kube: KubeApi;
let kubelets: Kubelets;

beforeEach(async () => {
  api = await startApi();
  kube = connectKube(accessFromKubeconfig(api.kubeconfig()));
});
afterEach(async () => {
  await kubelets.stop();
  kube.close();
  await api.close();
});

const start = (options: KubeletOptions = {}) => {
  kubelets = startKubelets(accessFromKubeconfig(api.kubeconfig()), { clock: realClock(100), ...options });
};

function machine(input: Partial<MachineInput> = {}): SimulatedMachine {
  const made = new SimulatedMachine({ name: 'm-1', cpu: 8, memory: '16Gi', ...input }, manualClock(), {
    onBooted: (it) => void kubelets.booted(hostOf(it)),
    onShuttingDown: ({ name }) => kubelets.shuttingDown(name),
    onHalted: ({ name }) => kubelets.halted(name),
  });
  return made;
}

/** The fields of nodes, leases and pods that these tests look at. */
interface Thing {
  metadata: {
    uid: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: object[];
    deletionTimestamp?: string;
  };
  spec: {
    renewTime: string;
    holderIdentity?: string;
    unschedulable?: boolean;
    taints?: { key: string }[];
  };
  status: {
    conditions?: { type: string; status: string }[];
    allocatable?: object;
    nodeInfo?: { bootID: string };
    phase?: string;
    startTime?: string;
    podIP?: string;
    containerStatuses?: { restartCount: number; state: { terminated?: { exitCode: number } } }[];
  };
}

async function find(path: string): Promise<Thing | undefined> {
  const { status, body } = await kube.send('GET', path);
  return status === 200 ? (body as Thing) : undefined;
}
async function get(path: string): Promise<Thing> {
  const found = await find(path);
  if (!found) throw new Error(`there is no ${path}`);
  return found;
}

async function until(
  what: string,
  path: string,
  wanted: (object: Thing) => boolean = () => true,
): Promise<Thing> {
  let last: Thing | undefined;
  for (let i = 0; i < 400; i++) {
    last = await find(path);
    if (last && wanted(last)) return last;
    await sleep(25);
  }
  throw new Error(`never ${what}: ${JSON.stringify(last)}`);
}
async function untilGone(path: string): Promise<void> {
  for (let i = 0; i < 400 && (await find(path)); i++) await sleep(25);
  expect(await find(path)).toBeUndefined();
}
const ready = ({ status }: Thing) => status.conditions?.find(({ type }) => type === 'Ready')?.status;
const phase = (wanted: string) => (pod: Thing) => pod.status.phase === wanted;
const firstContainer = ({ status }: Thing) => status.containerStatuses?.[0];

/** Changes an object as somebody else would. */
async function patch(path: string, body: object): Promise<void> {
  const answer = await kube.send('PATCH', path, body);
  if (answer.status !== 200) throw new Error(`the patch was refused: ${JSON.stringify(answer.body)}`);
}

async function createPod(name: string, fields: { annotations?: object; spec?: object } = {}): Promise<void> {
  const { status, body } = await kube.send('POST', pods, {
    metadata: { name, annotations: fields.annotations ?? {} },
    spec: {
      nodeName: 'm-1',
      containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '2' } } }],
      ...fields.spec,
    },
  });
  if (status !== 201) throw new Error(`the pod was refused: ${JSON.stringify(body)}`);
}

describe('a machine that has booted', () => {
  test('registers a Ready node with its identity, size and taints, and holds a lease', async () => {
    start();
    const taints = [{ key: 'bamel.dev/startup', effect: 'NoSchedule' as const }];
    const booted = machine({
      gpu: 2,
      zone: 'z1',
      labels: { disk: 'nvme' },
      taints,
      providerID: 'bamel://m-1',
    });
    booted.startBooted();
    const node = await until('ready', '/api/v1/nodes/m-1', (it) => ready(it) === 'True');
    expect(node.metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'm-1',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': 'z1',
      disk: 'nvme',
    });
    expect(node.spec).toMatchObject({ providerID: 'bamel://m-1', taints: expect.arrayContaining(taints) });
    expect(node.status.allocatable).toMatchObject({
      cpu: '8',
      memory: '16Gi',
      pods: '110',
      'nvidia.com/gpu': '2',
    });
    expect(node.status.nodeInfo).toMatchObject({
      systemUUID: booted.identity.systemUUID,
      machineID: booted.identity.machineID,
      bootID: booted.bootId,
    });
    const lease = await until('a lease', `${leases}/m-1`);
    expect(lease.metadata.ownerReferences).toMatchObject([{ kind: 'Node', uid: node.metadata.uid }]);
    const renewed = await until('renewed', `${leases}/m-1`, (it) => it.spec.renewTime > lease.spec.renewTime);
    expect(renewed.spec.holderIdentity).toBe('m-1');
  });

  test('keeps a cordon, foreign labels and taints of the node it had before, and has a new boot id', async () => {
    start();
    const it = machine({ taints: [{ key: 'startup', effect: 'NoSchedule' }] });
    it.startBooted();
    const first = await until('ready', '/api/v1/nodes/m-1', (node) => ready(node) === 'True');
    it.cutPower();
    const others = [{ key: 'other', effect: 'NoExecute' }];
    await patch('/api/v1/nodes/m-1', {
      metadata: { labels: { mine: 'yes' } },
      spec: { unschedulable: true, taints: others },
    });
    await patch('/api/v1/nodes/m-1/status', {
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    });
    it.startBooted();
    const again = await until('ready again', '/api/v1/nodes/m-1', (node) => ready(node) === 'True');
    expect(again.metadata.uid).toBe(first.metadata.uid);
    expect(again.metadata.labels.mine).toBe('yes');
    expect(again.spec.unschedulable).toBe(true);
    expect(again.spec.taints).toEqual(expect.arrayContaining([expect.objectContaining({ key: 'other' })]));
    expect(again.spec.taints?.some(({ key }) => key === 'startup')).toBe(false);
    expect(again.status.nodeInfo?.bootID).toBe(it.bootId);
    expect(again.status.nodeInfo?.bootID).not.toBe(first.status.nodeInfo?.bootID);
  });

  test('says it is Ready when the control plane had given up on it', async () => {
    start();
    machine().startBooted();
    await until('ready', '/api/v1/nodes/m-1', (node) => ready(node) === 'True');
    const unknown = { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] };
    await until('registered', `${leases}/m-1`);
    await patch('/api/v1/nodes/m-1/status', { status: unknown });
    expect(ready(await until('ready', '/api/v1/nodes/m-1', (node) => ready(node) === 'True'))).toBe('True');
  });

  test('whose Node is deleted heartbeats no more, and registers anew at its next boot', async () => {
    start({ clock: realClock(1000) });
    const it = machine();
    it.startBooted();
    await until('a lease', `${leases}/m-1`);
    await kube.send('DELETE', '/api/v1/nodes/m-1');
    // Whoever deletes a Node has its lease collected; a late renewal may bring it back once.
    let quiet = 0;
    for (let i = 0; i < 100 && quiet < 4; i++) {
      await kube.send('DELETE', `${leases}/m-1`);
      await sleep(200);
      quiet = (await find(`${leases}/m-1`)) ? 0 : quiet + 1;
    }
    expect(quiet).toBe(4);
    expect(await find('/api/v1/nodes/m-1')).toBeUndefined();
    it.cutPower();
    it.startBooted();
    expect(ready(await until('registered', '/api/v1/nodes/m-1'))).toBe('True');
  });

  test('registers as soon as the API lets it', async () => {
    const failures: string[] = [];
    const { port } = new URL(api.url);
    await api.close();
    start({ log: (message) => failures.push(message) });
    machine().startBooted();
    for (let i = 0; i < 400 && !failures.includes('registration failed, trying again'); i++) await sleep(25);
    expect(failures).toContain('registration failed, trying again');
    api = await startApi({ port: Number(port) });
    expect(await until('registered', '/api/v1/nodes/m-1', (node) => ready(node) === 'True')).toBeDefined();
  });
});

describe('a machine that goes dark', () => {
  test('renews nothing any more and leaves node and pods as they were', async () => {
    start({ clock: realClock(1000) });
    const it = machine();
    it.startBooted();
    await createPod('web');
    await until('running', `${pods}/web`, phase('Running'));
    await until('a lease', `${leases}/m-1`);
    it.cutPower();
    // A renewal may have been under way: the one read again after a quiet moment is the last.
    let last = '';
    let current = (await get(`${leases}/m-1`)).spec.renewTime;
    for (let i = 0; i < 50 && current !== last; i++) {
      last = current;
      await sleep(200);
      current = (await get(`${leases}/m-1`)).spec.renewTime;
    }
    await createPod('late');
    await sleep(200);
    expect((await get(`${leases}/m-1`)).spec.renewTime).toBe(last);
    expect((await get(`${pods}/late`)).status.phase).toBe('Pending');
    expect((await get(`${pods}/web`)).status.phase).toBe('Running');
    expect(ready(await get('/api/v1/nodes/m-1'))).toBe('True');

    it.startBooted();
    await until('running', `${pods}/late`, phase('Running'));
    const restarted = await until(
      'restarted',
      `${pods}/web`,
      (pod) => firstContainer(pod)?.restartCount === 1,
    );
    expect(restarted.status.phase).toBe('Running');
  });

  test('is NotReady first when it is shut down in good order and its kubelet minds', async () => {
    start({ gracefulShutdown: true });
    const it = machine();
    it.startBooted();
    await until('ready', '/api/v1/nodes/m-1', (node) => ready(node) === 'True');
    await until('a lease', `${leases}/m-1`);
    it.askToStop();
    expect(it.phase).toBe('shutting-down');
    expect(await until('not ready', '/api/v1/nodes/m-1', (node) => ready(node) === 'False')).toBeDefined();
  });
});

describe('pods bound to a node', () => {
  test('run with an address of their own, ready, and load the machine', async () => {
    start();
    machine().startBooted();
    expect(kubelets.load('m-1')).toBe(0);
    await createPod('a');
    await createPod('b');
    const a = await until('ready', `${pods}/a`, (pod) => ready(pod) === 'True');
    const b = await until('running', `${pods}/b`, phase('Running'));
    expect(a.status).toMatchObject({ phase: 'Running', startTime: expect.any(String) });
    expect(a.status.containerStatuses).toMatchObject([{ name: 'main', ready: true, restartCount: 0 }]);
    expect(a.status.podIP).toMatch(/^10\./);
    expect(a.status.podIP).not.toBe(b.status.podIP);
    for (let i = 0; i < 400 && kubelets.load('m-1') < 0.5; i++) await sleep(25);
    expect(kubelets.load('m-1')).toBe(0.5);
  });

  test('of a Job succeed after run-for; others go on', async () => {
    start();
    machine().startBooted();
    await createPod('short', { spec: { restartPolicy: 'Never' } });
    await createPod('long', {
      spec: { restartPolicy: 'OnFailure' },
      annotations: { 'lab.bamel.dev/run-for': '86400' },
    });
    await createPod('server');
    const short = await until('succeeded', `${pods}/short`, phase('Succeeded'));
    expect(firstContainer(short)?.state.terminated?.exitCode).toBe(0);
    await until('running', `${pods}/long`, phase('Running'));
    expect((await get(`${pods}/server`)).status.phase).toBe('Running');
  });

  test('that a power cut interrupted and must not restart have failed', async () => {
    start();
    const it = machine();
    it.startBooted();
    await createPod('once', {
      spec: { restartPolicy: 'Never' },
      annotations: { 'lab.bamel.dev/run-for': '86400' },
    });
    await until('running', `${pods}/once`, phase('Running'));
    for (let i = 0; i < 400 && kubelets.load('m-1') === 0; i++) await sleep(25);
    it.cutPower();
    it.startBooted();
    const failed = await until('failed', `${pods}/once`, phase('Failed'));
    expect(firstContainer(failed)?.state.terminated?.exitCode).toBe(137);
  });

  test('that are deleted take the time they need, but no more than their grace', async () => {
    start({ clock: realClock(50) });
    machine().startBooted();
    await createPod('quick');
    await createPod('slow', { annotations: { 'lab.bamel.dev/stop-takes': '1000000' } });
    await createPod('stubborn', { annotations: { 'lab.bamel.dev/stop-takes': '1000000' } });
    for (const name of ['quick', 'slow', 'stubborn']) {
      await until('running', `${pods}/${name}`, phase('Running'));
    }
    await kube.send('DELETE', `${pods}/slow`, { gracePeriodSeconds: 100_000 });
    await kube.send('DELETE', `${pods}/quick`);
    await kube.send('DELETE', `${pods}/stubborn`, { gracePeriodSeconds: 5 });
    await untilGone(`${pods}/quick`);
    await untilGone(`${pods}/stubborn`);
    expect((await get(`${pods}/slow`)).metadata.deletionTimestamp).toEqual(expect.any(String));
  });
});

describe('kwok as the kubelet', () => {
  test('gets the node by annotation and loses it and its lease when the power goes', async () => {
    start({ registrar: 'kwok' });
    const it = machine();
    it.startBooted();
    const node = await until('registered', '/api/v1/nodes/m-1');
    expect(node.metadata.annotations?.['kwok.x-k8s.io/node']).toBe('fake');
    expect(node.status.nodeInfo?.bootID).toBe(it.bootId);
    expect(await find(`${leases}/m-1`)).toBeUndefined();
    await kube.send('POST', leases, { metadata: { name: 'm-1' }, spec: { holderIdentity: 'kwok' } });
    it.cutPower();
    const left = await until(
      'let go',
      '/api/v1/nodes/m-1',
      (made) => !made.metadata.annotations?.['kwok.x-k8s.io/node'],
    );
    expect(left.metadata.uid).toBe(node.metadata.uid);
    expect((await get(`${leases}/m-1`)).spec.holderIdentity).toBe('powered-off');
    it.startBooted();
    await until(
      'back',
      '/api/v1/nodes/m-1',
      (made) => made.metadata.annotations?.['kwok.x-k8s.io/node'] === 'fake',
    );
    expect(await find(`${leases}/m-1`)).toBeUndefined();
  });
});
