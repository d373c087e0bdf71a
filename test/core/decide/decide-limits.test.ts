import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import {
  Gi,
  machine,
  minute,
  node,
  now,
  pool,
  running,
  serving,
  settings,
  snapshot,
} from '../support/builders.ts';
import { intents, pods, reasons, verdict } from '../support/decisions.ts';

const off = (count: number, spec = {}) =>
  Array.from({ length: count }, (_, index) => machine(`m${index + 1}`, { spec }));

const ofPool = { code: 'at-limit', pool: 'workers' } as const;
const ofCluster = { code: 'at-limit' } as const;

describe('how much may be powered on', () => {
  test.each<[string, Parameters<typeof snapshot>[0], number, Reason]>([
    ['cores of a pool', { pools: [pool({ cpuCores: 9 })] }, 2, { ...ofPool, limit: 'cpuCores', most: 9 }],
    [
      'memory of a pool',
      { pools: [pool({ memoryMiB: 16 * 1024 })] },
      1,
      { ...ofPool, limit: 'memoryMiB', most: 16384 },
    ],
    [
      'nodes of the cluster, others included',
      {
        settings: settings({ limits: { maxNodes: 3, cpuCores: 0, memoryMiB: 0 } }),
        nodes: [node('other', { allocatable: {} })],
      },
      2,
      { ...ofCluster, limit: 'maxNodes', most: 3 },
    ],
    [
      'cores of the cluster',
      { settings: settings({ limits: { maxNodes: 0, cpuCores: 4, memoryMiB: 0 } }) },
      1,
      { ...ofCluster, limit: 'cpuCores', most: 4 },
    ],
    [
      'those on their way',
      { pools: [pool({ scaleUp: { batchSize: 3 } })] },
      3,
      { code: 'batch-full', pool: 'workers', most: 3 },
    ],
    [
      'power-ons per minute',
      { settings: settings({ rateLimits: { perMinute: 2, perRack: 0, perCircuit: 0 } }) },
      2,
      { code: 'rate-limited', where: 'the cluster', most: 2 },
    ],
  ])('%s: filled up to it, and the rest is told', (_what, parts, most, reason) => {
    const given = snapshot({ machines: off(5), pods: pods(20), ...parts });
    expect(intents(given)).toHaveLength(most);
    const { record } = decide(given, now);
    expect(reasons(given).limits).toEqual([reason]);
    expect(record.unmet).toMatchObject([{ pods: 20 - 4 * most }]);
    expect(verdict(given, 'm5')).toEqual({ verdict: 'rejected', ...reason });
  });

  test('0 is no bound', () => {
    expect(intents(snapshot({ machines: off(5), pods: pods(20) }))).toHaveLength(5);
  });

  const fields = ['rack', 'powerCircuit'] as const;
  test.each(fields)('fault 41: power-ons per minute in a %s, those of the last minute included', (field) => {
    const rateLimits = {
      perMinute: 0,
      perRack: field === 'rack' ? 2 : 0,
      perCircuit: field === 'rack' ? 0 : 2,
    };
    const machines = Array.from({ length: 6 }, (_, index) =>
      machine(`m${index + 1}`, { spec: { [field]: index < 4 ? 'full' : 'other' } }),
    );
    const given = (more: Snapshot['machines'][number][] = []) =>
      snapshot({ machines: [...machines, ...more], pods: pods(24), settings: settings({ rateLimits }) });
    const inFull = (names: string[]) => names.filter((name) => /m[1-4]$/.test(name));
    expect(inFull(intents(given()))).toHaveLength(2);
    expect(intents(given())).toHaveLength(4);
    const started = (ago: number) =>
      machine('m7', {
        spec: { [field]: 'full', resources: { cpu: 1 } },
        status: { state: 'joining', lastPowerAction: 'on', powerActionTime: now - ago },
      });
    expect(inFull(intents(given([started(59_000)])))).toHaveLength(1);
    expect(inFull(intents(given([started(61_000)])))).toHaveLength(2);
  });

  test('fault 41: a storm of pods never gets a circuit above its rate, minute by minute', () => {
    let machines = Array.from({ length: 12 }, (_, index) =>
      machine(`m${index}`, { spec: { powerCircuit: index % 2 ? 'a' : 'b' } }),
    );
    const times: { circuit: string | undefined; at: number }[] = [];
    for (let at = now; at < now + 5 * minute; at += 10_000) {
      const given = snapshot({
        machines,
        pods: pods(48),
        settings: settings({ rateLimits: { perMinute: 0, perRack: 0, perCircuit: 1 } }),
      });
      const on = new Set(decide(given, at).intents.map((intent) => intent.machine));
      machines = machines.map((one) => {
        if (!on.has(one.spec.name)) return one;
        times.push({ circuit: one.spec.powerCircuit, at });
        return { ...one, status: { ...one.status, state: 'powering-on', stateSince: at, operation: 'op' } };
      });
    }
    expect(times.length).toBeGreaterThanOrEqual(8);
    for (const { circuit, at } of times)
      expect(
        times.filter((one) => one.circuit === circuit && one.at > at - minute && one.at <= at),
      ).toHaveLength(1);
  });
});

describe('how many may leave', () => {
  const idle = (count: number, parts: Parameters<typeof snapshot>[0] = {}): Snapshot => {
    const names = Array.from({ length: count }, (_, index) => `m${index + 1}`);
    return snapshot({
      machines: names.map((name) => serving(name)),
      nodes: [...names.map((name) => node(name)), node('other')],
      ...parts,
    });
  };

  const budget = (text: string) => ({ code: 'disruption-budget', pool: 'workers', budget: text }) as const;
  test.each<[string, Parameters<typeof snapshot>[0], number, Reason]>([
    [
      'maxConcurrent',
      { pools: [pool({ maxConcurrent: 2 })] },
      2,
      { code: 'max-concurrent', pool: 'workers', most: 2 },
    ],
    ['a budget of a number', { pools: [pool({ budgets: [{ nodes: { count: 1 } }] })] }, 1, budget('1')],
    ['of a share, rounded up', { pools: [pool({ budgets: [{ nodes: { share: 0.3 } }] })] }, 3, budget('30%')],
    [
      'the most restrictive of several',
      {
        pools: [
          pool({ budgets: [{ nodes: { count: 5 } }, { nodes: { share: 0.1 } }, { nodes: { count: 4 } }] }),
        ],
      },
      1,
      budget('10%'),
    ],
    [
      'one for all pools',
      { settings: settings({ budgets: [{ nodes: { count: 2 } }] }) },
      2,
      { code: 'disruption-budget', budget: '2' },
    ],
    ['none at all', { pools: [pool({ budgets: [{ nodes: { count: 0 } }] })] }, 0, budget('0')],
  ])('%s', (_what, parts, most, reason) => {
    const given = idle(8, parts);
    expect(intents(given)).toHaveLength(most);
    expect(reasons(given).limits).toEqual([reason]);
  });

  test('a budget for other reasons, or at other times, does not count', () => {
    const budgets = (more: object) =>
      idle(3, { pools: [pool({ budgets: [{ nodes: { count: 0 }, ...more }] })] });
    expect(intents(budgets({ reasons: ['underutilized'] }))).toHaveLength(3);
    expect(intents(budgets({ reasons: ['empty'] }))).toHaveLength(0);
    // now is 02:46:40 on the first of January 1970.
    expect(intents(budgets({ window: { cron: '0 2 * * *', forMs: 60 * minute } }))).toHaveLength(0);
    expect(intents(budgets({ window: { cron: '0 2 * * *', forMs: 30 * minute } }))).toHaveLength(3);
    expect(intents(budgets({ window: { cron: '0 8 * * *', forMs: 600 * minute } }))).toHaveLength(3);
  });

  test('those that are leaving count', () => {
    const leaving = serving('m0', { status: { state: 'draining', operation: 'op' } });
    const base = idle(3, { pools: [pool({ maxConcurrent: 2 })] });
    const given = {
      ...base,
      machines: [leaving, ...base.machines],
      cluster: { ...base.cluster, nodes: [...base.cluster.nodes, node('m0', { unschedulable: true })] },
    };
    expect(intents(given)).toEqual(['drain m1']);
  });

  test('the minimum of an open window, and its end', () => {
    const schedule = [{ cron: '0 2 * * *', forMs: 60 * minute, minNodes: 2 }];
    const given = idle(3, { pools: [pool({ schedule })] });
    expect(intents(given)).toEqual(['drain m1']);
    expect(verdict(given, 'm3')).toEqual({
      verdict: 'kept',
      code: 'schedule-keeps',
      pool: 'workers',
      nodes: 2,
      cron: '0 2 * * *',
    });
    expect(intents(given, now + 60 * minute)).toHaveLength(3);
  });

  test.each<[string, number, object, Partial<Reason>]>([
    [
      'a power-on',
      5 * minute,
      { lastPowerAction: 'on', powerActionTime: now - minute },
      { code: 'cooldown', after: 'power-on', pauseMs: 5 * minute, leftMs: 4 * minute },
    ],
    [
      'a failure',
      3 * minute,
      { lastError: { code: 'lost-power', message: 'x', at: now - minute } },
      { code: 'cooldown', after: 'failure', pauseMs: 3 * minute, leftMs: 2 * minute },
    ],
  ])('a pause after %s, in that pool only', (_what, pause, status, reason) => {
    const base = idle(1, {
      settings: settings({
        cooldowns: { afterScaleUpMs: pause, afterScaleDownMs: 0, afterFailureMs: pause },
      }),
      pools: [pool(), pool({ name: 'more' })],
    });
    const given = (name: string) => ({
      ...base,
      machines: [...base.machines, machine('x', { spec: { pool: name }, status })],
    });
    expect(verdict(given('workers'), 'm1')).toEqual({ verdict: 'kept', pool: 'workers', ...reason });
    expect(intents(given('more'))).toEqual(['drain m1']);
  });

  test('fault 21: nothing of a pool is powered off while many of its nodes are not Ready, and it says so', () => {
    const sick = (count: number, poolName = 'workers'): Snapshot => {
      const names = Array.from({ length: 8 }, (_, index) => `m${index + 1}`);
      return snapshot({
        machines: names.map((name, index) =>
          serving(name, { spec: { pool: index < 7 ? poolName : 'workers' } }),
        ),
        nodes: [...names.map((name, index) => node(name, { ready: index >= count })), node('other')],
        pools: [pool(), pool({ name: 'more' })],
      });
    };
    expect(intents(sick(4))).toEqual([]);
    expect(reasons(sick(4)).limits).toEqual([
      { code: 'pool-unready', pool: 'workers', unready: 4, serving: 8 },
    ]);
    // Three are nothing unusual, and another pool's are none of ours.
    expect(intents(sick(3))).toHaveLength(5);
    expect(intents(sick(4, 'more'))).toEqual(['drain m8']);
  });

  test('fault 40: never the last Ready node, a control-plane node or the host of the autoscaler', () => {
    const control = { labels: { 'node-role.kubernetes.io/control-plane': '' } };
    const alone = snapshot({ machines: [serving('m1'), serving('m2')], nodes: [node('m1'), node('m2')] });
    expect(intents(alone)).toEqual(['drain m1']);
    expect(verdict(alone, 'm2')).toEqual({ verdict: 'kept', code: 'last-ready-node' });
    const unprotected = { settings: settings({ protect: [] }), nodes: [node('m1', control), node('other')] };
    expect(verdict(idle(1, unprotected), 'm1')).toEqual({
      verdict: 'kept',
      code: 'protected',
      by: 'control-plane',
    });
    expect(verdict({ ...idle(1), ownNode: 'm1' }, 'm1')).toEqual({ verdict: 'kept', code: 'own-node' });
    expect(intents({ ...idle(1), ownNode: 'other' })).toEqual(['drain m1']);
  });

  test('only what has come back from off before', () => {
    const fresh = idle(1, { machines: [serving('m1', { status: { provenAt: undefined } })] });
    expect(verdict(fresh, 'm1')).toEqual({ verdict: 'kept', code: 'unproven', machine: 'm1' });
    const trusting = { ...fresh, settings: settings({ requireProvenCycle: false }) };
    expect(intents(trusting)).toEqual(['drain m1']);
  });

  test('headroom is not given away', () => {
    const given = (cpu: number) => idle(2, { pools: [pool({ headroom: { cpu } })] });
    expect(intents(given(4000))).toEqual(['drain m1']);
    expect(intents(given(5000))).toEqual([]);
    expect(verdict(given(5000), 'm1')).toEqual({
      verdict: 'kept',
      code: 'headroom',
      pool: 'workers',
      resources: { cpu: 5000 },
    });
  });

  test('PodDisruptionBudgets are shared by the whole round', () => {
    const web = (name: string, on: string) =>
      running(name, on, { labels: { app: 'web' }, requests: { cpu: 100, memory: Gi } });
    const budget = (disruptionsAllowed: number) => ({
      namespace: 'default',
      name: 'web',
      selector: [{ key: 'app', operator: 'In', values: ['web'] }],
      disruptionsAllowed,
    });
    const given = (allowed: number): Snapshot => {
      const base = idle(3, { pods: [web('a', 'm1'), web('b', 'm2'), web('c', 'm3')] });
      return { ...base, cluster: { ...base.cluster, budgets: [budget(allowed)] } };
    };
    expect(intents(given(0))).toEqual([]);
    expect(verdict(given(0), 'm1')).toEqual({
      verdict: 'kept',
      code: 'pod-disruption-budget',
      budget: 'default/web',
    });
    expect(intents(given(1))).toEqual(['drain m1']);
    expect(intents(given(3))).toHaveLength(3);
  });

  test('a machine stays on until idling has cost what booting it again will', () => {
    const slow = serving('m1', {
      spec: { watts: { idle: 100, max: 500 } },
      status: { learnedBootMs: 25 * minute },
    });
    const given = idle(1, { machines: [slow] });
    expect(verdict(given, 'm1')).toEqual({ verdict: 'kept', code: 'boot-costs-more', forMs: 75 * minute });
    expect(intents(given, now + 15 * minute)).toEqual(['drain m1']);
    expect(intents({ ...given, settings: settings({ weighBoot: false }) })).toEqual(['drain m1']);
  });
});
