import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot, TriggerReading } from '../../../shared/core/decide/snapshot.ts';
import { fc } from '../../../tools/support/seeded.ts';
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

describe('pods', () => {
  const one = (parts: Parameters<typeof pod>[1], more: Parameters<typeof snapshot>[0] = {}) =>
    snapshot({ machines: [machine('m1')], pods: [pod('p', parts)], ...more });

  test('without requests count', () => {
    expect(intents(one({ requests: {} }))).toEqual(['power-on m1']);
  });

  test.each<[string, Parameters<typeof pod>[1]]>([
    ['below the cutoff', { priority: -11 }],
    ['that the scheduler makes room for', { nominatedNode: 'n' }],
    ['of a DaemonSet', { belongsToNode: true }],
  ])('%s are no demand', (_what, parts) => {
    expect(intents(one(parts))).toEqual([]);
  });

  test('at the cutoff are: that is how room is kept by pods that others displace', () => {
    expect(intents(one({ priority: -10 }))).toEqual(['power-on m1']);
  });

  test('that are held back by a gate are told, and get no machine', () => {
    const { record, intents: none } = decide(one({ gates: ['wait'] }), now);
    expect(none).toEqual([]);
    expect(record.unmet[0]?.reason).toEqual({ code: 'gated', gates: ['wait'] });
  });

  test('wait as long as they ask to be', () => {
    const asks = { annotations: { 'cluster-autoscaler.kubernetes.io/pod-scale-up-delay': '5m' } };
    expect(intents(one(asks))).toEqual([]);
    expect(decide(one(asks), now).record.unmet[0]?.reason).toEqual({ code: 'waits-too-short' });
    expect(intents(one(asks), now + 4 * minute)).toEqual(['power-on m1']);
  });

  test("wait for the stabilization window, or the pool's own", () => {
    const patient = settings({ stabilizationWindowMs: 5 * minute });
    expect(intents(one({}, { settings: patient }))).toEqual([]);
    expect(intents(one({}, { settings: patient }), now + 4 * minute)).toEqual(['power-on m1']);
    const hasty = {
      settings: patient,
      pools: [pool({ scaleUp: { batchSize: 0, stabilizationWindowMs: 0 } })],
    };
    expect(intents(one({}, hasty))).toEqual(['power-on m1']);
  });

  test('the important ones are served where not all can be', () => {
    const given = snapshot({
      machines: [machine('m1')],
      pods: [...pods(4, { requests: { cpu: 1500 } }), pod('vip', { requests: { cpu: 1000 }, priority: 100 })],
    });
    const served = decide(given, now)
      .assignments()
      .flatMap(({ pods: names }) => names);
    expect(served).toContain('default/vip');
  });

  test('that the scheduler refuses for long, in a pool that is nearly full, get another machine', () => {
    const given = (cpu: number, waits: number): Snapshot =>
      snapshot({
        machines: [serving('m1'), machine('m2')],
        nodes: [node('m1')],
        pods: [
          running('big', 'm1', { requests: { cpu } }),
          pod('odd', { requests: { cpu: 100 }, createdAt: now - waits }),
        ],
      });
    expect(intents(given(3000, 5 * minute))).toEqual(['power-on m2']);
    expect(reasons(given(3000, 5 * minute)).wants).toEqual([
      { code: 'scheduler-refuses', pool: 'workers', use: 0.75, pods: 1, forMs: 5 * minute },
    ]);
    expect(intents(given(2000, 5 * minute))).toEqual([]);
    expect(intents(given(3000, 4 * minute))).toEqual([]);
  });
});

describe('schedules', () => {
  const eight = 8 * 60 * minute;
  const given = (learnedBootMs?: number) =>
    snapshot({
      machines: [machine('m1', { status: { learnedBootMs } }), machine('m2', { status: { learnedBootMs } })],
      pools: [pool({ schedule: [{ cron: '0 8 * * *', forMs: 120 * minute, minNodes: 1 }] })],
    });
  test('power on while the window is open, and a boot ahead of it', () => {
    expect(intents(given(10 * minute), eight - 11 * minute)).toEqual([]);
    expect(intents(given(10 * minute), eight - 9 * minute)).toEqual(['power-on m1']);
    expect(intents(given(), eight - 6 * minute)).toEqual([]);
    expect(intents(given(), eight - 4 * minute)).toEqual(['power-on m1']);
    expect(intents(given(), eight + 119 * minute)).toEqual(['power-on m1']);
    expect(intents(given(), eight + 120 * minute)).toEqual([]);
  });
});

describe('triggers', () => {
  const trigger = (scaleDirection: 'up' | 'down') => ({
    name: 'queue',
    metricQuery: 'q',
    threshold: 10,
    durationMs: 2 * minute,
    scaleDirection,
  });
  const reading = (parts: Partial<TriggerReading>): TriggerReading => ({
    pool: 'workers',
    trigger: 'queue',
    value: 11,
    since: now - 2 * minute,
    ...parts,
  });
  const up = (...triggers: TriggerReading[]): Snapshot => ({
    ...snapshot({ machines: [machine('m1'), machine('m2')], pools: [pool({ triggers: [trigger('up')] })] }),
    triggers,
  });

  test('above the threshold for long enough: one more machine', () => {
    expect(intents(up(reading({})))).toEqual(['power-on m1']);
    expect(reasons(up(reading({}))).wants).toEqual([
      {
        code: 'trigger-holds',
        pool: 'workers',
        trigger: 'queue',
        value: 11,
        threshold: 10,
        forMs: 2 * minute,
      },
    ]);
  });

  test.each<[string, Partial<TriggerReading>]>([
    ['not above', { value: 10 }],
    ['not for long enough', { since: now - 119_000 }],
    ['no data', { value: undefined }],
    ['not a number', { value: Number.NaN }],
    ['of another pool', { pool: 'gpu' }],
  ])('%s: nothing', (_what, parts) => {
    expect(intents(up(reading(parts)))).toEqual([]);
  });

  test('one at a time: the next only once the last has had its time to help', () => {
    const joined = (ago: number): Snapshot => ({
      ...up(reading({ since: now - 60 * minute })),
      machines: [serving('m1', { status: { joinTime: now - ago } }), machine('m2')],
      cluster: { nodes: [node('m1')], pods: [] },
    });
    expect(intents(joined(minute))).toEqual([]);
    expect(intents(joined(2 * minute))).toEqual(['power-on m2']);
    const coming = {
      ...up(reading({})),
      machines: [machine('m1', { status: { state: 'joining' } }), machine('m2')],
    };
    expect(intents(coming)).toEqual([]);
  });

  test('fault 22: no reading of any trigger, firing or resolved or gone, powers anything off that was not idle long enough', () => {
    const readings = fc.record({
      pool: fc.constantFrom('workers', 'gpu'),
      trigger: fc.constantFrom('queue', 'other'),
      value: fc.option(fc.oneof(fc.double(), fc.integer({ min: 0, max: 30 })), { nil: undefined }),
      since: fc.integer({ min: 0, max: now }),
    });
    fc.assert(
      fc.property(
        fc.array(readings, { maxLength: 4 }),
        fc.constantFrom('up', 'down'),
        (triggers, direction) => {
          const given: Snapshot = {
            ...snapshot({
              machines: [
                serving('m1', { metrics: { idleSince: now - minute } }),
                serving('m2', { metrics: {} }),
              ],
              nodes: [node('m1'), node('m2'), node('other')],
              pools: [pool({ triggers: [trigger(direction as 'up' | 'down')] })],
            }),
            triggers,
          };
          expect(intents(given).filter((intent) => intent.startsWith('drain'))).toEqual([]);
        },
      ),
    );
  });

  test('a trigger that holds, or a down trigger that does not, keeps everything on', () => {
    const idle = (direction: 'up' | 'down', ...triggers: TriggerReading[]): Snapshot => ({
      ...snapshot({
        machines: [serving('m1')],
        nodes: [node('m1'), node('other')],
        pools: [pool({ triggers: [trigger(direction)], maxNodes: 1 })],
      }),
      triggers,
    });
    expect(verdict(idle('up', reading({})), 'm1')).toEqual({
      verdict: 'kept',
      code: 'trigger-above',
      pool: 'workers',
      trigger: 'queue',
      threshold: 10,
    });
    expect(intents(idle('up', reading({ value: 3 })))).toEqual(['drain m1']);
    expect(intents(idle('up'))).toEqual(['drain m1']);
    expect(intents(idle('down'))).toEqual([]);
    expect(intents(idle('down', reading({ value: 3 })))).toEqual(['drain m1']);
    expect(intents(idle('down', reading({ value: 3, since: now })))).toEqual([]);
  });
});

describe('pressure', () => {
  const pressed = (parts: object, more: Partial<Snapshot> = {}): Snapshot => ({
    ...snapshot({
      machines: [
        serving('m1'),
        machine('big-cpu', { spec: { resources: { cpu: 16_000, memory: 16 * Gi } } }),
        machine('big-memory', { spec: { resources: { cpu: 4000, memory: 32 * Gi } } }),
        machine('same', { spec: { resources: { cpu: 4000, memory: 16 * Gi } } }),
      ],
      nodes: [node('m1')],
      pods: [running('p', 'm1', { requests: { cpu: 3000 } })],
    }),
    pressure: [{ node: 'm1', category: 'memory', level: 0.8, sign: 'rising', ...parts }],
    ...more,
  });

  test('rising and high: the machine that comes closest to doubling what is short', () => {
    expect(intents(pressed({}))).toEqual(['power-on same']);
    const others = { machines: pressed({}).machines.filter(({ spec }) => spec.name !== 'same') };
    // 1 × twice the memory is 1 off; 0.25 × four times the cpu is 0.75 off.
    expect(intents(pressed({}, others))).toEqual(['power-on big-cpu']);
    expect(intents(pressed({ category: 'cpu' }, others))).toEqual(['power-on big-memory']);
  });

  test.each([{ level: 0.69 }, { sign: 'falling' }, { node: 'gone' }])('%j: nothing', (parts) => {
    expect(intents(pressed(parts))).toEqual([]);
  });

  test('a condition of the node is pressure, too', () => {
    const given = pressed({ level: 0 }, {});
    const nodes = [node('m1', { pressure: ['MemoryPressure'] })];
    expect(intents({ ...given, cluster: { ...given.cluster, nodes } })).toEqual(['power-on same']);
  });

  test('a machine that is hardly used is kept for it, and no other is wanted', () => {
    const given = pressed(
      {},
      {
        machines: [serving('m1'), serving('spare'), machine('same')],
        cluster: { nodes: [node('m1'), node('spare'), node('other')], pods: pressed({}).cluster.pods },
      },
    );
    expect(intents(given)).toEqual([]);
    expect(verdict(given, 'spare')).toMatchObject({
      verdict: 'kept',
      code: 'kept-for-pressure',
      pressure: { code: 'pressure', node: 'm1', category: 'memory', level: 0.8 },
    });
    expect(intents({ ...given, pressure: [] })).toEqual(['drain spare']);
  });
});

describe('headroom', () => {
  const given = (cpu: number, used: number) =>
    snapshot({
      machines: [serving('m1', { metrics: {} }), machine('m2'), machine('m3')],
      nodes: [node('m1')],
      pods: [running('p', 'm1', { requests: { cpu: used } })],
      pools: [pool({ headroom: { cpu } })],
    });
  test('is kept free beyond all demand', () => {
    expect(intents(given(2000, 2000))).toEqual([]);
    expect(intents(given(2000, 3000))).toEqual(['power-on m2']);
    expect(intents(given(6000, 3000))).toEqual(['power-on m2', 'power-on m3']);
    expect(reasons(given(12_000, 3000)).limits).toEqual([
      {
        code: 'no-machine-for',
        want: { code: 'headroom', pool: 'workers', resources: { cpu: 12_000 } },
      },
    ]);
  });
});

describe('faults', () => {
  test('fault 20: a node that flaps is not powered off: idle time begins anew with every return', () => {
    let metrics = serving('m1').metrics;
    for (let step = 0; step < 40; step += 1) {
      const at = now + step * minute;
      const ready = step % 8 !== 0;
      const given = snapshot({
        machines: [serving('m1', { status: { nodeReady: ready }, metrics })],
        nodes: [node('m1', { ready }), node('other')],
      });
      const decision = decide(given, at);
      expect(decision.intents).toEqual([]);
      for (const { idleSince } of decision.idle) metrics = { ...metrics, idleSince };
    }
    // Without the flapping it would have gone.
    const calm = snapshot({ machines: [serving('m1')], nodes: [node('m1'), node('other')] });
    expect(intents(calm, now + 40 * minute)).toEqual(['drain m1']);
  });

  test('fault 27: demand that returns during a drain calls it off, where that saves powering something on', () => {
    const draining = serving('m1', { status: { state: 'draining', operation: 'op' } });
    const given = (waiting: number, others = [machine('m2')]) =>
      snapshot({
        machines: [draining, ...others],
        nodes: [node('m1', { unschedulable: true }), node('x', { allocatable: {} })],
        pods: pods(waiting),
      });
    expect(intents(given(3))).toEqual(['cancel-drain m1']);
    expect(verdict(given(3), 'm1')).toEqual({ verdict: 'cancel-drain', code: 'drain-cancelled', pods: 3 });
    expect(intents(given(7))).toEqual(['cancel-drain m1', 'power-on m2']);
    expect(intents(given(0))).toEqual([]);
    // The other is larger and has to come anyway: the drain goes on.
    const big = machine('big', { spec: { resources: { cpu: 16_000, memory: 64 * Gi } } });
    const huge = given(0, [big]);
    const one = pod('huge', { requests: { cpu: 9000 } });
    expect(intents({ ...huge, cluster: { ...huge.cluster, pods: [one, ...pods(2)] } })).toEqual([
      'power-on big',
    ]);
  });

  test('fault 27: what is left on the node counts: its room is not given twice', () => {
    const given = snapshot({
      machines: [serving('m1', { status: { state: 'draining', operation: 'op' } }), machine('m2')],
      nodes: [node('m1', { unschedulable: true }), node('x', { allocatable: {} })],
      pods: [running('left', 'm1', { requests: { cpu: 3000 } }), ...pods(1, { requests: { cpu: 2000 } })],
    });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('a drain that the stock Cluster Autoscaler asked for is not called off', () => {
    const spec = { pool: 'theirs' };
    const given = snapshot({
      machines: [serving('m1', { spec, status: { state: 'draining', operation: 'op' } }), machine('m2')],
      pools: [pool(), pool({ name: 'theirs', managedBy: 'clusterAutoscaler' })],
      nodes: [node('m1', { unschedulable: true }), node('x', { allocatable: {} })],
      pods: pods(1),
    });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('fault 27: what is powering off is not called back', () => {
    const given = snapshot({
      machines: [serving('m1', { status: { state: 'powering-off', operation: 'op' } }), machine('m2')],
      nodes: [node('m1', { unschedulable: true })],
      pods: pods(1),
    });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('fault 26: a pod that lands on a machine while it is chosen keeps it: decided anew, it stays', () => {
    const before = snapshot({ machines: [serving('m1')], nodes: [node('m1'), node('other')] });
    expect(intents(before)).toEqual(['drain m1']);
    const landed = running('late', 'm1', { movable: false });
    expect(intents({ ...before, cluster: { ...before.cluster, pods: [landed] } })).toEqual([]);
  });
});
