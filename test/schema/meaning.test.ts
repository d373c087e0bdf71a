import { defaultPool, defaultSettings, defaultTimings } from '../../shared/core/settings.ts';
import { MachineSpec } from '../../shared/schema/machine.ts';
import { PoolSpec } from '../../shared/schema/pool.ts';
import { Settings } from '../../shared/schema/settings.ts';

const minute = 60_000;

describe('a machine as people write it', () => {
  const least = { name: 'm-1', pool: 'closet', powerInterface: 'redfish', resources: { cpu: 8, memory: 1 } };
  const resources = (given: Record<string, unknown>) =>
    MachineSpec.parse({ ...least, resources: given }).resources;

  test('its size in the units of the core', () => {
    expect(resources({ cpu: '3500m', memory: '32Gi', gpu: 2, storage: '1T', pods: 50 })).toEqual({
      cpu: 3_500,
      memory: 32 * 2 ** 30,
      'nvidia.com/gpu': 2,
      'ephemeral-storage': 1e12,
      pods: 50,
    });
    expect(resources({ cpu: 8, memory: 1024, customResources: { 'amd.com/gpu': 4 } })).toEqual({
      cpu: 8_000,
      memory: 1_024,
      'amd.com/gpu': 4,
    });
    expect(resources({ cpu: 0.5, memory: '1.5Gi' })).toEqual({ cpu: 500, memory: 1.5 * 2 ** 30 });
  });

  test('the options of its driver under one name, and nothing of what only people look at', () => {
    const spec = MachineSpec.parse({
      ...least,
      redfish: { system: '/redfish/v1/Systems/1' },
      inventoryId: '42',
    });
    expect(spec.options).toEqual({ system: '/redfish/v1/Systems/1' });
    expect(spec).not.toHaveProperty('redfish');
    expect(spec).not.toHaveProperty('inventoryId');
  });

  test('everything else as it stands', () => {
    const rest = {
      mgmtAddress: 'https://10.0.0.5',
      macAddress: '52:54:00:12:34:56',
      bmcCredentials: 'bmc',
      rack: 'r',
      zone: 'z',
      powerCircuit: 'c',
      watts: { idle: 10, max: 100 },
      labels: { 'example.com/class': 'gpu' },
      taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
      maintenance: true,
      systemUUID: 'u',
      providerID: 'p',
    };
    expect(MachineSpec.parse({ ...least, ...rest })).toMatchObject(rest);
  });
});

describe('a pool as people write it', () => {
  test('defaults', () => {
    expect(PoolSpec.parse({ name: 'closet' })).toEqual({ ...defaultPool, name: 'closet' });
  });

  test('what is written', () => {
    const pool = {
      name: 'closet',
      limits: { minNodes: 2, maxNodes: 2 },
      scaleDown: { unneededFor: '90s', drainTimeout: '1h30m' },
      provisionTimeout: '500ms',
    };
    expect(PoolSpec.parse(pool)).toEqual({
      ...defaultPool,
      name: 'closet',
      limits: { ...defaultPool.limits, minNodes: 2, maxNodes: 2 },
      scaleDown: { ...defaultPool.scaleDown, unneededForMs: 90_000, drainTimeoutMs: 90 * minute },
      provisionTimeoutMs: 500,
    });
  });

  test('which offers it takes: all, unless it says otherwise; other providers know of none', () => {
    const offersOf = (template: object) =>
      PoolSpec.parse({ name: 'far', template }).template.provider?.offers;
    expect(offersOf({ provider: 'liqo' })).toEqual({ regions: [], onlyRegions: false });
    const offers = { providers: ['oslo'], regions: ['eu', 'us'], onlyRegions: true };
    expect(offersOf({ provider: 'liqo', offers: { ...offers, maxLatency: '50ms' } })).toEqual({
      ...offers,
      maxLatencyMs: 50,
    });
    expect(offersOf({ provider: 'proxmox' })).toBeUndefined();
  });

  test('maxNodes 0 is no limit for minNodes', () => {
    expect(PoolSpec.parse({ name: 'a', limits: { minNodes: 5 } }).limits).toMatchObject({
      minNodes: 5,
      maxNodes: 0,
    });
  });
});

describe('what is set for all pools, as people write it', () => {
  test('defaults: control planes are never powered off', () => {
    expect(Settings.parse({})).toEqual(defaultSettings);
    expect(defaultSettings).toMatchObject({
      protect: ['control-plane'],
      dryRun: false,
      scaleUpThreshold: 0.7,
      scaleDownThreshold: 0.3,
    });
  });

  test('every timing can be set by its name without its unit, and only that one changes', () => {
    for (const name of Object.keys(defaultTimings) as (keyof typeof defaultTimings)[]) {
      const { timings } = Settings.parse({ timings: { [name.replace(/Ms$/, '')]: '7s' } });
      expect(timings).toEqual({ ...defaultTimings, [name]: 7_000 });
    }
  });

  test.each([
    ['0%', 0],
    ['45%', 0.45],
    ['100%', 1],
  ])('threshold %s', (scaleDown, share) => {
    expect(Settings.parse({ thresholds: { scaleDown } }).scaleDownThreshold).toBe(share);
  });
});
