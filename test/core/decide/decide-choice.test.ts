import { decide } from '../../../shared/core/decide/decide.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import type { PolicyName } from '../../../shared/core/scale-up/policy-names.ts';
import type { PoolSpec } from '../../../shared/core/settings.ts';
import { MachineSpec } from '../../../shared/schema/machine.ts';
import {
  Gi,
  machine,
  minute,
  node,
  now,
  pod,
  pool,
  running,
  serving,
  settings,
  snapshot,
} from '../support/builders.ts';
import { intents, pods, reasons, verdict } from '../support/decisions.ts';

/** Two machines that differ in one thing: which is taken, and which when only other policies count. */
const rows: readonly [PolicyName, Parameters<typeof machine>[1], Parameters<typeof machine>[1]][] = [
  ['priority', { spec: { pool: 'workers' } }, { spec: { pool: 'first' } }],
  ['health', { status: { attempts: 1 } }, {}],
  ['watts', { spec: { watts: { idle: 50, max: 100 } } }, { spec: { watts: { idle: 20, max: 100 } } }],
  ['waste', { spec: { resources: { cpu: 8000, memory: 32 * Gi } } }, {}],
  ['price', { spec: { pricing: { hourlyRate: 2 } } }, { spec: { pricing: { hourlyRate: 1 } } }],
  ['diversity', { spec: { rack: 'busy' } }, { spec: { rack: 'idle' } }],
  ['boot-time', { status: { learnedBootMs: 4 * minute } }, { status: { learnedBootMs: 2 * minute } }],
  ['wear', { status: { stateSince: now - minute } }, { status: { stateSince: now - 9 * minute } }],
];

test.each(rows)('the policy %s prefers one machine to another', (policy, worse, better) => {
  const given = (policies: PolicyName[]) =>
    snapshot({
      machines: [
        machine('a', worse),
        machine('b', better),
        serving('on', { spec: { rack: 'busy' }, metrics: {} }),
      ],
      nodes: [node('on')],
      pods: [
        pod('p', { requests: { cpu: 3000, memory: Gi } }),
        running('q', 'on', { requests: { cpu: 4000 } }),
      ],
      pools: [pool(), pool({ name: 'first', priority: 1 })],
      settings: settings({ policies }),
    });
  expect(intents(given([policy]))).toEqual(['power-on b']);
  // Nothing tells them apart by it: the name does.
  expect(intents(given([policy === 'pressure' ? 'watts' : 'pressure']))).toEqual(['power-on a']);
});

test('what pods prefer decides between machines that are otherwise alike', () => {
  const wish = {
    weight: 10,
    term: { labels: [{ key: 'disk', operator: 'In', values: ['ssd'] }], fields: [] },
  };
  const given = snapshot({
    machines: [machine('a'), machine('b', { spec: { labels: { disk: 'ssd' } } })],
    pods: [pod('p', { rules: { nodePreferences: [wish] } })],
  });
  expect(intents(given)).toEqual(['power-on b']);
});

test('the first policy that tells them apart decides, and a pool may have its own', () => {
  const machines = [
    machine('thrifty', { spec: { watts: { idle: 10, max: 50 }, pricing: { hourlyRate: 9 } } }),
    machine('cheap', { spec: { watts: { idle: 90, max: 400 }, pricing: { hourlyRate: 1 } } }),
  ];
  const given = (parts: Parameters<typeof snapshot>[0]) => snapshot({ machines, pods: pods(1), ...parts });
  expect(intents(given({}))).toEqual(['power-on thrifty']);
  expect(intents(given({ settings: settings({ policies: ['price', 'watts'] }) }))).toEqual([
    'power-on cheap',
  ]);
  expect(intents(given({ pools: [pool({ policies: ['price'] })] }))).toEqual(['power-on cheap']);
});

test('watts count for the demand, not for the machine: small ones for little, a large one for much', () => {
  const small = (name: string) => machine(name, { spec: { watts: { idle: 20, max: 40 } } });
  const large = machine('large', {
    spec: { resources: { cpu: 32_000, memory: 128 * Gi }, watts: { idle: 60, max: 200 } },
  });
  const given = (count: number) =>
    snapshot({
      machines: [...['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8'].map(small), large],
      pods: pods(count),
    });
  expect(intents(given(4))).toEqual(['power-on s1']);
  expect(intents(given(30))).toEqual(['power-on large']);
});

describe('machines made on demand', () => {
  const provider: NonNullable<PoolSpec['template']['provider']> = {
    name: 'redfish',
    namePrefix: 'vm',
    options: { node: 'pve' },
    minSize: { cpu: 2000, memory: 2 * Gi, gpu: 0 },
    maxSize: { cpu: 16_000, memory: 32 * Gi, gpu: 0 },
    memoryOverhead: Gi,
    watts: { idle: 16, max: 160 },
  };
  const made = (parts: Partial<PoolSpec> = {}) =>
    pool({ template: { provider, labels: { kind: 'vm' } }, ...parts });

  test('are as large as the demand, and described as people would', () => {
    const { intents: chosen } = decide(snapshot({ pools: [made()], pods: pods(5) }), now);
    expect(chosen).toEqual([
      {
        kind: 'power-on',
        machine: 'vm-1',
        why: expect.any(String),
        reason: { code: 'holds-pods', pods: 5, waiting: 5 },
        make: {
          name: 'vm-1',
          pool: 'workers',
          powerInterface: 'redfish',
          redfish: { node: 'pve' },
          resources: { cpu: 5, memory: 5 * Gi },
          watts: { idle: 5, max: 50 },
          memoryOverhead: Gi,
          made: true,
        },
      },
    ]);
    expect(MachineSpec.parse(chosen[0]?.make)).toMatchObject({
      resources: { cpu: 5000, memory: 5 * Gi },
      made: true,
    });
  });

  test('not smaller than the least, not larger than the most, under names that nobody has', () => {
    const taken: Machine[] = [machine('vm-1', { spec: { maintenance: true } })];
    const given = (count: number) =>
      decide(snapshot({ machines: taken, pools: [made()], pods: pods(count) }), now);
    expect(given(1).intents).toMatchObject([
      { machine: 'vm-2', make: { resources: { cpu: 2, memory: 2 * Gi } } },
    ]);
    expect(given(20).intents).toMatchObject([
      { machine: 'vm-2', make: { resources: { cpu: 16 } } },
      { machine: 'vm-3', make: { resources: { cpu: 4 } } },
    ]);
  });

  test('within the limits of their pool', () => {
    expect(
      intents(
        snapshot({
          pools: [made({ limits: { minNodes: 0, maxNodes: 1, cpuCores: 0, memoryMiB: 0 } })],
          pods: pods(40),
        }),
      ),
    ).toEqual(['power-on vm-1']);
    expect(
      intents(
        snapshot({ pools: [made({ limits: { minNodes: 1, maxNodes: 0, cpuCores: 0, memoryMiB: 0 } })] }),
      ),
    ).toEqual(['power-on vm-1']);
  });

  test('and not where a fixed machine does it for fewer watts', () => {
    const fixed = machine('fixed', { spec: { watts: { idle: 1, max: 5 } } });
    expect(intents(snapshot({ machines: [fixed], pools: [made()], pods: pods(2) }))).toEqual([
      'power-on fixed',
    ]);
  });
});

describe('replacement', () => {
  const big = serving('big', {
    spec: { resources: { cpu: 32_000, memory: 128 * Gi }, watts: { idle: 200, max: 600 } },
  });
  const little = machine('little', { spec: { watts: { idle: 10, max: 40 } } });
  const nodes = [
    node('big', { allocatable: { cpu: 32_000, memory: 128 * Gi, pods: 110 } }),
    node('x', { allocatable: { cpu: 100, memory: Gi, pods: 110 } }),
  ];
  const given = (machines: Machine[], parts: Parameters<typeof snapshot>[0] = {}) =>
    snapshot({ machines, nodes, pods: [running('p', 'big')], ...parts });

  test('the less hungry one is powered on first; the other is drained once that is Ready', () => {
    expect(intents(given([big, little]))).toEqual(['power-on little']);
    expect(verdict(given([big, little]), 'little')).toEqual({
      verdict: 'power-on',
      code: 'replaces',
      machine: 'big',
      watts: expect.closeTo(17.5),
      instead: expect.closeTo(212.5),
    });
    const coming = given([big, { ...little, status: { ...little.status, state: 'joining' } }]);
    expect(intents(coming)).toEqual([]);
    expect(decide(coming, now).idle).toEqual([]);
    expect(verdict(coming, 'big')).toEqual({ verdict: 'kept', code: 'fits-on-coming', on: ['little'] });
    const ready = serving('little', { spec: little.spec, metrics: {} });
    expect(intents(given([big, ready], { nodes: [...nodes, node('little')] }))).toEqual(['drain big']);
  });

  test('not before its time, not for little, and not when it is turned off', () => {
    expect(intents(given([{ ...big, metrics: {} }, little]))).toEqual([]);
    const hungry = machine('hungry', { spec: { watts: { idle: 180, max: 500 } } });
    expect(intents(given([big, hungry]))).toEqual([]);
    expect(intents(given([big, little], { settings: settings({ replace: false }) }))).toEqual([]);
    const slow = machine('slow', { ...little, status: { learnedBootMs: 48 * 60 * minute } });
    expect(intents(given([big, slow]))).toEqual([]);
  });
});

test("a pool of the stock Cluster Autoscaler's is left alone, and the record says so", () => {
  const given = snapshot({
    machines: [machine('m1'), serving('m2')],
    nodes: [node('m2'), node('other', { allocatable: {} })],
    pods: pods(9),
    pools: [pool({ managedBy: 'clusterAutoscaler' })],
  });
  const { record } = decide(given, now);
  expect(record.intents).toEqual([]);
  const left = { code: 'left-to-cluster-autoscaler', pool: 'workers' };
  expect(reasons(given).notes).toEqual([left]);
  expect(verdict(given, 'm1')).toEqual({ verdict: 'rejected', ...left });
});

test('powerState by hand: one that is to be off is never chosen and goes as soon as it can; one that is to be on stays', () => {
  const wish = (powerState: 'on' | 'off') => ({ spec: { powerState } });
  expect(intents(snapshot({ machines: [machine('m1', wish('off'))], pods: pods(1) }))).toEqual([]);
  const given = (powerState: 'on' | 'off') =>
    snapshot({
      machines: [
        serving('m1', { ...wish(powerState), metrics: powerState === 'on' ? { idleSince: 1 } : {} }),
      ],
      nodes: [node('m1'), node('other')],
      pods: powerState === 'off' ? [running('p', 'm1', { requests: { cpu: 3000 } })] : [],
    });
  expect(intents(given('off'))).toEqual(['drain m1']);
  expect(verdict(given('on'), 'm1')).toEqual({ verdict: 'kept', code: 'stays-on' });
});

test('a record of 10,000 machines stays small, and names all that is chosen', () => {
  const machines = Array.from({ length: 10_000 }, (_, index) =>
    machine(`m${index}`, index % 3 === 0 ? { status: { bmcReachable: false } } : {}),
  );
  const { record, candidates } = decide(snapshot({ machines, pods: pods(12) }), now);
  expect(candidates).toHaveLength(10_000);
  expect(record.candidates.filter(({ verdict: said }) => said === 'power-on')).toHaveLength(3);
  expect(JSON.stringify(record).length).toBeLessThan(5_000);
  const told = record.candidates.reduce((sum, { alike }) => sum + 1 + (alike?.count ?? 0), 0);
  expect(told).toBe(10_000);
});
