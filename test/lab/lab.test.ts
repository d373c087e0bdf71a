import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { accessFromKubeconfig, connectKube, type KubeApi } from '../../simulator/lab/kubelet/kube-api.ts';
import { type Lab, startLab } from '../../simulator/lab/lab.ts';
import { faults } from '../../simulator/lab/rack/faults.ts';
import { paths } from '../../simulator/lab/rack/resources.ts';

interface MachineView {
  name: string;
  power: string;
  phase: string;
  watts: number;
  faults: object[];
  commands: { verb: string; accepted: boolean }[];
}
interface Named {
  metadata: { name: string; labels: Record<string, string> };
  spec: { taints?: { key: string; effect: string }[]; nodeName?: string };
  status: { phase?: string; conditions?: { type: string; status: string; reason?: string }[] };
}

let lab: Lab;
let kube: KubeApi;

beforeAll(async () => {
  lab = await startLab({
    speed: 100,
    machines: [
      { name: 'tower-1', cpu: 16, memory: '64Gi', watts: { idle: 50, max: 150 }, pool: 'closet', rack: 'r1' },
      { name: 'mini-1', cpu: 2, memory: '8Gi', on: true, credentials: { user: 'root', password: 'calvin' } },
    ],
  });
  kube = connectKube(accessFromKubeconfig(lab.kubeconfig));
});
afterAll(async () => {
  kube.close();
  await lab.stop();
});

async function list(path: string): Promise<Named[]> {
  return ((await kube.send('GET', path)).body as { items: Named[] }).items;
}
const nodes = () => list('/api/v1/nodes');
const condition = (object: Named | undefined, type: string) =>
  object?.status.conditions?.find((one) => one.type === type);
async function readyNodes(): Promise<string[]> {
  const all = await nodes();
  return all
    .filter((node) => condition(node, 'Ready')?.status === 'True')
    .map(({ metadata }) => metadata.name)
    .sort();
}
async function control(method: string, path: string, body?: object) {
  const response = await fetch(`${lab.control}/lab/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
const view = async (name: string) => (await control('GET', `machines/${name}`)).body as MachineView;
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (await holds()) return;
    await sleep(25);
  }
  throw new Error(`never ${what}: ${JSON.stringify(await nodes())}`);
}

test('starts with a control-plane node and the machines that are on', async () => {
  expect(await readyNodes()).toEqual(['control-1', 'mini-1']);
  const controlPlane = (await nodes()).find(({ metadata }) => metadata.name === 'control-1');
  expect(controlPlane?.metadata.labels).toMatchObject({ 'node-role.kubernetes.io/control-plane': '' });
  expect(controlPlane?.spec.taints).toMatchObject([
    { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
  ]);
  expect(lab.machines.has('control-1')).toBe(false);
});

test('the inventory is all that is needed to power a machine', async () => {
  const [tower, mini] = lab.inventory();
  expect(tower).toMatchObject({
    name: 'tower-1',
    powerInterface: 'redfish',
    resources: { cpu: 16, memory: '64Gi' },
    watts: { idle: 50, max: 150 },
    pool: 'closet',
    rack: 'r1',
  });
  const { user, password } = mini?.credentials ?? {};
  const response = await fetch(`${mini?.mgmtAddress}${paths.system}`, {
    headers: { authorization: `Basic ${btoa(`${user}:${password}`)}` },
  });
  expect(await response.json()).toMatchObject({ UUID: mini?.systemUUID, PowerState: 'On' });
});

test('a pod too big waits; a machine powered on through its BMC joins and runs it; a power cut is noticed', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const big = async () => (await list(pods)).find(({ metadata }) => metadata.name === 'big');
  await kube.send('POST', pods, {
    metadata: { name: 'big' },
    spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '8' } } }] },
  });
  await until(
    'unschedulable',
    async () => condition(await big(), 'PodScheduled')?.reason === 'Unschedulable',
  );

  const tower = lab.inventory()[0];
  const { user, password } = tower?.credentials ?? {};
  const reset = (ResetType: string) =>
    fetch(`${tower?.mgmtAddress}${paths.reset}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${user}:${password}`)}` },
      body: JSON.stringify({ ResetType }),
    });
  expect((await reset('On')).status).toBe(204);
  await until('running', async () => (await big())?.status.phase === 'Running');
  expect((await big())?.spec.nodeName).toBe('tower-1');
  await until('loaded', async () => (await view('tower-1')).watts === 100);

  expect((await reset('ForceOff')).status).toBe(204);
  await until('unknown', async () => {
    const node = (await nodes()).find(({ metadata }) => metadata.name === 'tower-1');
    return condition(node, 'Ready')?.status === 'Unknown';
  });
  expect((await view('tower-1')).commands).toMatchObject([
    { verb: 'On', accepted: true },
    { verb: 'ForceOff', accepted: true },
  ]);
  expect(await readyNodes()).toEqual(['control-1', 'mini-1']);
});

describe('the control endpoint', () => {
  test('shows machines, sets and clears faults, presses buttons', async () => {
    const all = (await control('GET', 'machines')).body as MachineView[];
    expect(all.map(({ name }) => name)).toEqual(['tower-1', 'mini-1']);
    expect((await control('GET', 'faults')).body).toHaveLength(Object.keys(faults).length);

    const set = await control('POST', 'machines/mini-1/faults', { fault: 'slow', ms: 1, times: 5 });
    expect(set.body).toEqual([{ fault: 'slow', ms: 1, times: 5 }]);
    await control('POST', 'machines/mini-1/faults', { fault: 'hang' });
    expect((await control('DELETE', 'machines/mini-1/faults?fault=hang')).body).toHaveLength(1);
    expect((await control('DELETE', 'machines/mini-1/faults')).body).toEqual([]);

    expect((await control('POST', 'machines/mini-1/button', { press: 'off' })).body).toMatchObject({
      power: 'Off',
    });
    await control('POST', 'machines/mini-1/button', { press: 'on' });
    await until('booted', async () => (await view('mini-1')).phase === 'booted');
  });

  test('says what is wrong with a request', async () => {
    expect((await control('GET', 'machines/nobody')).status).toBe(404);
    expect((await control('GET', 'toys')).status).toBe(404);
    expect((await control('PUT', 'machines/mini-1/faults')).status).toBe(405);
    const unknown = await control('POST', 'machines/mini-1/faults', { fault: 'gremlins' });
    expect(unknown.status).toBe(400);
    expect(JSON.stringify(unknown.body)).toContain('ok-but-nothing-happens');
    const form = await fetch(`${lab.control}/lab/machines/mini-1/button`, {
      method: 'POST',
      body: '{"press":"off"}',
    });
    expect(form.status).toBe(400);
    expect((await view('mini-1')).power).toBe('On');
  });
});

test('as a program it prints one line of JSON, serves, and leaves nothing behind when told to end', async () => {
  const program = fileURLToPath(new URL('../../simulator/lab/main.ts', import.meta.url));
  const child = spawn(process.execPath, [program, '--json', '--machines', '2', '--speed', '100'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let kubeconfig = '';
  try {
    const line = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
    const said = JSON.parse(line) as { kubeconfig: string; control: string; bmcs: { mgmtAddress: string }[] };
    kubeconfig = said.kubeconfig;
    expect(said.bmcs).toHaveLength(2);
    const other = connectKube(accessFromKubeconfig(readFileSync(kubeconfig, 'utf8')));
    expect((await other.send('GET', '/api/v1/nodes')).body).toMatchObject({ items: { length: 2 } });
    other.close();
    expect((await fetch(`${said.control}/lab/machines`)).status).toBe(200);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await exited).toBe(0);
  expect(existsSync(kubeconfig)).toBe(false);
});
