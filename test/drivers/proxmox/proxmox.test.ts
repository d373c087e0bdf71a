import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import { driverFor, loadDriver } from '../../../shared/drivers/index.ts';
import type { PowerDriver } from '../../../shared/ports/power.ts';
import { failing, machineSpec, patient, deps as plainDeps } from '../harness.ts';
import { ProxmoxFake } from './proxmox-fake.ts';

const deps = {
  ...plainDeps,
  credentials: async () => ({ tokenId: 'bamel@pve!scaler', tokenSecret: 'canary-9f3c' }),
};
const operation = 'op-1';
let pve: ProxmoxFake;
beforeEach(async () => {
  pve = await new ProxmoxFake().start();
});
afterEach(() => pve.close());

const GiB = 2 ** 30;
const made = (name: string, options: object = {}): MachineSpec =>
  machineSpec(pve.url, {
    name,
    made: true,
    powerInterface: 'proxmox',
    bmcCredentials: 'pve',
    resources: { cpu: 3500, memory: 8 * GiB },
    memoryOverhead: GiB,
    options: {
      vmIDRange: { lower: 1250, upper: 1252 },
      networkInterfaces: [{ bridge: 'vmbr0', vlanTag: 20, macPrefix: '02:AB:cd' }],
      vmOptions: { cpu: 'host', onboot: false, scsi0: 'local-zfs:16' },
      ...options,
    },
  });
const existing = (vmid: number, more: Partial<MachineSpec> = {}): MachineSpec =>
  machineSpec(pve.url, { powerInterface: 'proxmox', bmcCredentials: 'pve', options: { vmid }, ...more });
const driverOf = (spec: MachineSpec): Promise<PowerDriver> => driverFor(spec, deps);
const only = () => {
  expect(pve.vms.size).toBe(1);
  const [vm] = pve.vms.values();
  if (!vm) throw new Error('there is no VM');
  return vm;
};

describe('an existing VM', () => {
  test('is found wherever it is, and powered', async () => {
    const vm = pve.add(120, 'pve1', { config: { name: 'mini-1' } });
    const driver = await driverOf(existing(120));
    await driver.set('on', patient(), operation);
    expect(await driver.read(patient())).toEqual({ power: 'on', exists: true });
    vm.node = 'pve2';
    expect(await driver.read(patient())).toMatchObject({ power: 'on' });
    await driver.set('soft-off', patient(), operation);
    expect(await driver.read(patient())).toMatchObject({ power: 'off' });
    expect(driver.release).toBeUndefined();
  });

  test('that is in the wanted state already is not told again', async () => {
    pve.add(120, 'pve1', { running: true });
    const driver = await driverOf(existing(120));
    await driver.set('on', patient(), operation);
    expect(pve.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
  });

  test('whose guest is deaf, or that is paused, is stopped hard', async () => {
    pve.deafGuests = true;
    const vm = pve.add(120, 'pve1', { running: true });
    const driver = await driverOf(existing(120));
    expect(await failing(() => driver.set('soft-off', patient(), operation))).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('got timeout'),
    });
    vm.paused = true;
    expect((await failing(() => driver.set('soft-off', patient(), operation))).message).toContain(
      'is paused',
    );
    await driver.set('hard-off', patient(), operation);
    expect(vm.running).toBe(false);
  });

  test('a shutdown that takes its time is not waited for', async () => {
    pve.slowTasks = true;
    pve.add(120, 'pve1', { running: true });
    const driver = await driverOf(existing(120));
    await driver.set('soft-off', patient(), operation);
    expect(await driver.read(patient())).toMatchObject({ power: 'on' });
    pve.finishTasks();
    expect(await driver.read(patient())).toMatchObject({ power: 'off' });
  });

  test('tells who it is', async () => {
    const systemUUID = '4c4c4544-0042-3510-8054-b4c04f564432';
    pve.add(120, 'pve1', { config: { smbios1: `base64=1,uuid=${systemUUID}` } });
    const driver = await driverOf(existing(120, { systemUUID }));
    expect(await driver.read(patient())).toMatchObject({ systemUUID });
  });

  test('that is not there is a mistake to mend', async () => {
    const driver = await driverOf(existing(121));
    expect(await failing(() => driver.read(patient()))).toMatchObject({
      code: 'config',
      message: expect.stringContaining('no VM 121'),
    });
  });
});

describe('a machine made on demand', () => {
  test('does not exist, is created in the size of the demand, runs, and is given back', async () => {
    const driver = await driverOf(made('auto-1'));
    expect(await driver.read(patient())).toEqual({ power: 'off', exists: false });
    await driver.set('on', patient(), operation);
    const vm = only();
    expect(vm).toMatchObject({ node: 'pve1', running: true });
    expect(vm.vmid).toBeGreaterThanOrEqual(1250);
    expect(vm.vmid).toBeLessThanOrEqual(1252);
    expect(vm.config).toMatchObject({
      name: 'auto-1',
      cores: '4',
      memory: '9216',
      cpu: 'host',
      onboot: '0',
      tags: 'bamel-managed',
      net0: expect.stringMatching(/^virtio=02:AB:CD:([0-9A-F]{2}:){2}[0-9A-F]{2},bridge=vmbr0,tag=20$/),
    });
    await driver.set('soft-off', patient(), operation);
    await driver.release?.(patient());
    expect(pve.vms.size).toBe(0);
    await driver.release?.(patient());
    expect(await driver.read(patient())).toEqual({ power: 'off', exists: false });
  });

  test('is cloned from a template, then sized and tagged', async () => {
    pve.add(9000, 'pve2', { template: true, config: { memory: '512', cores: '1', tags: 'golden' } });
    const driver = await driverOf(made('auto-1', { template: { vmid: 9000, storage: 'local-zfs' } }));
    await driver.set('on', patient(), operation);
    const vm = [...pve.vms.values()].find(({ vmid }) => vmid !== 9000);
    expect(vm).toMatchObject({ node: 'pve1', running: true });
    expect(vm?.config).toMatchObject({ memory: '9216', tags: 'bamel-managed' });
  });

  test.each(['POST /nodes/{node}/qemu', 'POST /nodes/{node}/qemu/{vmid}/clone'])(
    'an answer to %s that never comes leaves one VM, not two',
    async (call) => {
      const clones = call.endsWith('clone');
      if (clones) pve.add(9000, 'pve1', { template: true });
      const driver = await driverOf(made('auto-1', clones ? { template: { vmid: 9000 } } : {}));
      pve.mute.add(call);
      const lost = await failing(() => driver.set('on', AbortSignal.timeout(300), operation));
      expect(lost.code).toBe('timeout');
      pve.mute.clear();
      await driver.set('on', patient(), operation);
      const vms = [...pve.vms.values()].filter(({ vmid }) => vmid !== 9000);
      expect(vms).toHaveLength(1);
      expect(vms[0]).toMatchObject({ running: true, config: { tags: 'bamel-managed' } });
    },
  );

  test('that is still being cloned is busy, not made again', async () => {
    pve.add(9000, 'pve1', { template: true });
    pve.slowTasks = true;
    const driver = await driverOf(made('auto-1', { template: { vmid: 9000 } }));
    expect((await failing(() => driver.set('on', AbortSignal.timeout(300), operation))).code).toBe('timeout');
    expect(await failing(() => driver.set('on', patient(), operation))).toMatchObject({ code: 'busy' });
    expect(pve.vms.size).toBe(2);
  });

  test('that crashed between clone and tag is given back all the same', async () => {
    pve.add(9000, 'pve1', { template: true });
    const spec = made('auto-1', { template: { vmid: 9000 } });
    pve.add(1251, 'pve1', { config: { name: 'auto-1', description: 'bamel.dev/machine=auto-1' } });
    await (await driverOf(spec)).release?.(patient());
    expect([...pve.vms.keys()]).toEqual([9000]);
  });

  test("somebody else's VM of the same name is never touched", async () => {
    const other = pve.add(1251, 'pve1', { running: true, config: { name: 'auto-1' } });
    const driver = await driverOf(made('auto-1'));
    await driver.set('on', patient(), operation);
    await driver.set('hard-off', patient(), operation);
    await driver.release?.(patient());
    expect(other.running).toBe(true);
    expect([...pve.vms.keys()]).toEqual([1251]);
  });

  test('a running VM is not deleted', async () => {
    const driver = await driverOf(made('auto-1'));
    await driver.set('on', patient(), operation);
    expect((await failing(async () => driver.release?.(patient()))).message).toContain('is running');
    expect(only().running).toBe(true);
  });

  test('only whitelisted hypervisors that are up and have room take it', async () => {
    await (await driverOf(made('auto-1', { nodes: ['pve2', 'pve3'] }))).set('on', patient(), operation);
    expect(only().node).toBe('pve2');
    const big = await driverOf({ ...made('auto-2', { nodes: ['pve2'] }), resources: { memory: 40 * GiB } });
    expect((await failing(() => big.set('on', patient(), operation))).message).toContain(
      'none of 1 hypervisors has',
    );
  });

  test('a full range of ids is told', async () => {
    for (const vmid of [1250, 1251, 1252]) pve.add(vmid, 'pve1', { config: { name: `other-${vmid}` } });
    const driver = await driverOf(made('auto-1'));
    expect((await failing(() => driver.set('on', patient(), operation))).message).toContain('vmIDRange');
  });

  test('a task that fails is a refusal with its reason', async () => {
    pve.failTasks = 'storage local-zfs is full';
    const driver = await driverOf(made('auto-1'));
    expect(await failing(() => driver.set('on', patient(), operation))).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('storage local-zfs is full'),
    });
  });

  test('an option that Proxmox does not know is refused by name', async () => {
    const driver = await driverOf(made('auto-1', { vmOptions: { ostpye: 'l26' } }));
    const error = await failing(() => driver.set('on', patient(), operation));
    expect(error.message).toMatch(/400 \(Parameter verification failed\.; ostpye: property is not defined/);
    expect(pve.vms.size).toBe(0);
  });
});

test('strays that are off are given back, those that run are named, the rest is left alone', async () => {
  const config = (name: string, tags = 'bamel-managed') => ({ config: { name, tags } });
  pve.add(1250, 'pve1', config('known'));
  pve.add(1251, 'pve2', config('lost'));
  pve.add(1252, 'pve1', { ...config('busy'), running: true });
  pve.add(1300, 'pve1', config('out-of-range'));
  pve.add(100, 'pve1', config('untagged', 'other'));
  const { options, releaseOrphans } = await loadDriver('proxmox');
  const spec = made('pool');
  const isKnown = (name: string) => name === 'known';
  expect(await releaseOrphans?.(spec, options.parse(spec.options), isKnown, deps, patient())).toEqual({
    released: ['lost'],
    running: ['busy'],
  });
  expect([...pve.vms.keys()].sort((a, b) => a - b)).toEqual([100, 1250, 1252, 1300]);
});

describe('what is written down wrongly', () => {
  test.each<[string, Partial<MachineSpec>, string]>([
    ['no vmid', { options: {} }, 'proxmox.vmid'],
    ['no range for machines made on demand', { made: true, options: {} }, 'vmIDRange'],
    ['a range upside down', { options: { vmIDRange: { lower: 300, upper: 200 } } }, 'vmIDRange.lower'],
    ['a tag that is none', { options: { vmid: 120, managedTag: 'a;b' } }, 'managedTag'],
    ['a hypervisor that is a path', { options: { vmid: 120, nodes: ['../x'] } }, 'nodes'],
    ['no credentials', { bmcCredentials: undefined, options: { vmid: 120 } }, 'bmcCredentials'],
  ])('%s', async (_, more, named) => {
    const error = await failing(() => driverOf(existing(120, more)));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(named) });
  });

  test('a wrong token is final and stays secret', async () => {
    pve.token = 'bamel@pve!scaler=another';
    const driver = await driverOf(existing(120));
    expect(await failing(() => driver.read(patient()))).toMatchObject({ code: 'auth', final: true });
  });
});
