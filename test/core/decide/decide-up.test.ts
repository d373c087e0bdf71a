import { decide } from '../../../shared/core/decide/decide.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import { Gi, machine, minute, node, now, pod, pool, serving, snapshot } from '../support/builders.ts';
import { intents, pods, reasons, summary, verdict } from '../support/decisions.ts';

describe('powering on', () => {
  test('nothing, when nobody waits', () => {
    const given = snapshot({ machines: [machine('m1')] });
    expect(intents(given)).toEqual([]);
    expect(verdict(given, 'm1')).toEqual({ verdict: 'rejected', code: 'not-needed' });
    expect(summary(given)).toBe('nothing to power on; nothing to power off');
  });

  test('as few machines as hold the waiting pods', () => {
    const given = snapshot({
      machines: [machine('m1'), machine('m2', { spec: { resources: { cpu: 8000, memory: 32 * Gi } } })],
      pods: pods(6),
    });
    expect(intents(given)).toEqual(['power-on m2']);
    expect(verdict(given, 'm2')).toEqual({ verdict: 'power-on', code: 'holds-pods', pods: 6, waiting: 6 });
    expect(verdict(given, 'm1')).toEqual({ verdict: 'rejected', code: 'not-needed' });
    expect(summary(given)).toBe('power on m2 for 6 pods; nothing to power off');
  });

  test('the one that draws less, then the one that comes first by name', () => {
    const watts = (max: number) => ({ spec: { watts: { idle: 10, max } } });
    const thrifty = snapshot({
      machines: [machine('m1', watts(200)), machine('m2', watts(100))],
      pods: pods(1),
    });
    expect(intents(thrifty)).toEqual(['power-on m2']);
    expect(decide(thrifty, now).record.candidates).toContainEqual({
      machine: 'm2',
      verdict: 'power-on',
      why: expect.any(String),
      reason: { code: 'holds-pods', pods: 1, waiting: 1 },
      watts: 100,
      score: expect.objectContaining({ watts: 32.5 }),
    });
    expect(intents(snapshot({ machines: [machine('m2'), machine('m1')], pods: pods(1) }))).toEqual([
      'power-on m1',
    ]);
  });

  test('several, when one is not enough', () => {
    const given = snapshot({ machines: [machine('m1'), machine('m2'), machine('m3')], pods: pods(7) });
    expect(intents(given)).toEqual(['power-on m1', 'power-on m2']);
  });

  test('none for a pod that fits where there is room already', () => {
    const given = snapshot({ machines: [machine('m1')], nodes: [node('n')], pods: pods(1) });
    expect(intents(given)).toEqual([]);
    expect(summary(given)).toBe('room for 1 waiting pod is on its way; nothing to power off');
  });

  test.each(['powering-on', 'joining'] as const)(
    'none for a pod that fits on a machine that is %s',
    (state) => {
      const coming = machine('m1', { status: { state, operation: 'op-1' } });
      const given = (count: number) => snapshot({ machines: [coming, machine('m2')], pods: pods(count) });
      expect(intents(given(4))).toEqual([]);
      expect(intents(given(5))).toEqual(['power-on m2']);
    },
  );

  describe('a machine has just become Ready', () => {
    const given = (key: string, joinedMinutesAgo: number, ready = true) =>
      snapshot({
        machines: [serving('m1', { status: { joinTime: now - joinedMinutesAgo * minute } }), machine('m2')],
        pools: [pool({ startupTaints: [{ key: 'booting', effect: 'NoSchedule' }] })],
        nodes: [node('m1', { ready, taints: [{ key, effect: 'NoSchedule' }] })],
        pods: pods(1),
      });

    test.each(['not-ready', 'unreachable'])('none because Kubernetes still calls it %s', (word) => {
      expect(intents(given(`node.kubernetes.io/${word}`, 0))).toEqual([]);
      expect(intents(given(`node.kubernetes.io/${word}`, 0, false))).toEqual(['power-on m2']);
    });

    test('none because of a startup taint, until it has been there too long', () => {
      expect(intents(given('booting', 1))).toEqual([]);
      expect(intents(given('booting', 15))).toEqual(['power-on m2']);
    });

    test.each(['other', 'node.kubernetes.io/disk-pressure'])('another one if it has taint %s', (key) => {
      expect(intents(given(key, 0))).toEqual(['power-on m2']);
    });
  });

  test('a machine that is leaving is no room', () => {
    const leaving = serving('m1', { status: { state: 'powering-off', operation: 'op-1' } });
    const given = snapshot({
      machines: [leaving, machine('m2')],
      nodes: [node('m1', { unschedulable: true })],
      pods: pods(1),
    });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('a pod goes to the machine its selector names', () => {
    const given = snapshot({
      machines: [machine('m1'), machine('m2', { spec: { labels: { disk: 'ssd' } } })],
      pods: [pod('p', { nodeSelector: { disk: 'ssd' } })],
    });
    expect(intents(given)).toEqual(['power-on m2']);
    expect(verdict(given, 'm1')).toEqual({
      verdict: 'rejected',
      code: 'label-needed',
      key: 'disk',
      value: 'ssd',
    });
  });

  test('demand is told in groups of equal pods', () => {
    const given = snapshot({ pods: [...pods(2), pod('big', { requests: { cpu: 3000 } })] });
    expect(decide(given, now).record.demand).toEqual([
      { pods: 1, requests: { cpu: 3000 }, example: 'default/big', room: 0, served: 0 },
      { pods: 2, requests: { cpu: 1000, memory: Gi }, example: 'default/p0', room: 0, served: 0 },
    ]);
  });
});

describe('machines that cannot be powered on are rejected, and said why', () => {
  test.each<[string, Parameters<typeof machine>[1], Partial<Reason>]>([
    ['maintenance asked for', { spec: { maintenance: true } }, { code: 'in-maintenance' }],
    ['in maintenance', { status: { state: 'maintenance' } }, { code: 'in-state', state: 'maintenance' }],
    [
      'in quarantine',
      {
        status: {
          state: 'error',
          lastError: { code: 'never-joined', message: 'no Ready node after 900 s', at: 0 },
        },
      },
      { code: 'in-state', state: 'error', error: 'no Ready node after 900 s' },
    ],
    [
      'off, but to be left alone for a while',
      { status: { retryAt: now + 1, lastError: { code: 'lost-power', message: 'lost its power', at: 0 } } },
      { code: 'quarantined', error: 'lost its power' },
    ],
    [
      'power unknown',
      { status: { powerState: 'unknown' } },
      { code: 'power-not-known', power: 'unknown', needed: 'off' },
    ],
    [
      'power on already',
      { status: { powerState: 'on' } },
      { code: 'power-not-known', power: 'on', needed: 'off' },
    ],
    ['BMC silent', { status: { bmcReachable: false } }, { code: 'bmc-silent' }],
    ['operated on', { status: { operation: 'op-1' } }, { code: 'operation-running', operation: 'op-1' }],
    ['of no pool', { spec: { pool: 'gone' } }, { code: 'pool-undefined', pool: 'gone' }],
    [
      'too small',
      { spec: { resources: { cpu: 500 } } },
      { code: 'no-room', resource: 'cpu', needed: 1000, free: 500 },
    ],
  ])('%s', (_name, parts, reason) => {
    const given = snapshot({ machines: [machine('m1', parts), machine('m2')], pods: pods(1) });
    expect(verdict(given, 'm1')).toMatchObject({ verdict: 'rejected', ...reason });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('and the pods that nobody can run learn all the reasons', () => {
    const given = snapshot({
      machines: [machine('m1', { status: { bmcReachable: false } }), machine('m2'), machine('m3')],
      pods: [pod('huge', { requests: { cpu: 64_000 } }), pod('ssd', { nodeSelector: { disk: 'ssd' } })],
    });
    const { record } = decide(given, now);
    expect(record.unmet).toMatchObject([
      {
        pod: 'default/huge',
        pods: 1,
        reason: {
          code: 'no-machine-fits',
          machines: 3,
          reasons: [{ count: 3, reason: { code: 'no-room', resource: 'cpu', needed: 64_000, free: 4000 } }],
        },
        pools: [],
      },
      {
        pod: 'default/ssd',
        pods: 1,
        reason: { reasons: [{ count: 3, reason: { code: 'label-needed', key: 'disk', value: 'ssd' } }] },
        pools: [],
      },
    ]);
    expect(record.summary).toBe('nothing to power on; nothing to power off; no machine for 2 pods');
  });

  test('the commonest first', () => {
    const dead = { status: { bmcReachable: false } };
    const given = snapshot({
      machines: [machine('m1', { spec: { maintenance: true } }), machine('m2', dead), machine('m3', dead)],
      pods: pods(1),
    });
    expect(decide(given, now).record.unmet).toMatchObject([
      {
        pod: 'default/p0',
        pods: 1,
        reason: {
          reasons: [
            { count: 2, reason: { code: 'bmc-silent' } },
            { count: 1, reason: { code: 'in-maintenance' } },
          ],
        },
        pools: ['workers'],
      },
    ]);
  });

  test('and which pools could serve them in principle', () => {
    const dead = { bmcReachable: false };
    const given = snapshot({
      pools: [pool(), pool({ name: 'large' })],
      machines: [
        machine('m1', { status: dead }),
        machine('m2', { status: dead, spec: { pool: 'large', resources: { cpu: 64_000, memory: 64 * Gi } } }),
      ],
      pods: [
        pod('small'),
        pod('big', { requests: { cpu: 32_000 } }),
        pod('huge', { requests: { cpu: 99_000 } }),
      ],
    });
    const pools = Object.fromEntries(
      decide(given, now).record.unmet.map(({ pod: name, pools }) => [name, pools]),
    );
    expect(pools).toEqual({
      'default/small': ['large', 'workers'],
      'default/big': ['large'],
      'default/huge': [],
    });
  });

  test('an empty inventory is a reason too', () => {
    const { record } = decide(snapshot({ pods: pods(1) }), now);
    expect(record.unmet[0]?.reason).toEqual({ code: 'no-machines' });
  });
});

describe('limits', () => {
  test('the maximum is filled up, and what is left over is told', () => {
    const given = snapshot({
      machines: [machine('m1'), machine('m2'), machine('m3')],
      pools: [pool({ maxNodes: 2 })],
      pods: pods(10),
    });
    const full = { code: 'at-limit', pool: 'workers', limit: 'maxNodes', most: 2 };
    expect(intents(given)).toEqual(['power-on m1', 'power-on m2']);
    expect(verdict(given, 'm3')).toEqual({ verdict: 'rejected', ...full });
    const { record } = decide(given, now);
    expect(record.unmet).toMatchObject([{ pods: 2 }]);
    expect(reasons(given).limits).toEqual([full]);
    expect(record.unmet[0]?.reason).toMatchObject({
      reasons: [
        { count: 2, reason: { code: 'room-taken' } },
        { count: 1, reason: full },
      ],
    });
    expect(record.summary).toBe('power on m1, m2 for 10 pods; nothing to power off; no machine for 2 pods');
  });

  test.each(['powering-on', 'joining', 'ready', 'draining', 'powering-off'] as const)(
    'a machine that is %s counts towards the maximum',
    (state) => {
      const busy = machine('m1', { status: { state, powerState: 'on', kubernetesNode: 'm1' } });
      const given = snapshot({
        machines: [busy, machine('m2')],
        pools: [pool({ maxNodes: 1 })],
        pods: pods(1, { nodeSelector: { 'kubernetes.io/hostname': 'm2' } }),
      });
      expect(intents(given)).toEqual([]);
      expect(verdict(given, 'm2')).toEqual({
        verdict: 'rejected',
        code: 'at-limit',
        pool: 'workers',
        limit: 'maxNodes',
        most: 1,
      });
    },
  );

  test("one pool's maximum does not close another", () => {
    const given = snapshot({
      machines: [machine('m1'), machine('m2', { spec: { pool: 'more' } })],
      pools: [pool({ maxNodes: 1 }), pool({ name: 'more', maxNodes: 1 })],
      pods: pods(8),
    });
    expect(intents(given)).toEqual(['power-on m1', 'power-on m2']);
  });

  test('a pool below its minimum is brought up to it without any demand', () => {
    const given = snapshot({
      machines: [serving('m1'), machine('m2'), machine('m3'), machine('m4')],
      nodes: [node('m1')],
      pools: [pool({ minNodes: 3 })],
    });
    expect(intents(given)).toEqual(['power-on m2', 'power-on m3']);
    expect(verdict(given, 'm2')).toEqual({
      verdict: 'power-on',
      code: 'pool-minimum',
      pool: 'workers',
      nodes: 3,
    });
    expect(verdict(given, 'm4')).toEqual({ verdict: 'rejected', code: 'not-needed' });
    expect(summary(given)).toBe('power on m2, m3; nothing to power off');
  });

  test('what demand chose counts towards the minimum, and so does what is coming', () => {
    const coming = machine('m1', { status: { state: 'joining', operation: 'op-1' } });
    const given = snapshot({
      machines: [coming, machine('m2')],
      pools: [pool({ minNodes: 2 })],
      pods: pods(5),
    });
    expect(intents(given)).toEqual(['power-on m2']);
  });

  test('a minimum above the maximum stops at the maximum', () => {
    const given = snapshot({
      machines: [machine('m1'), machine('m2')],
      pools: [pool({ minNodes: 2, maxNodes: 1 })],
    });
    expect(intents(given)).toEqual(['power-on m1']);
  });
});

test('every machine is named once in the record', () => {
  const given = snapshot({
    machines: [machine('m3'), serving('m2'), machine('m1', { status: { state: 'joining' } })],
    nodes: [node('m2'), node('other')],
  });
  const { record } = decide(given, now);
  expect(record.candidates.map(({ machine: name, verdict: said }) => [name, said])).toEqual([
    ['m1', 'kept'],
    ['m2', 'drain'],
    ['m3', 'rejected'],
  ]);
  expect(record).toMatchObject({ at: now, intents: [{ kind: 'drain', machine: 'm2' }] });
});
