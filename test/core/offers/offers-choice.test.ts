import { decide } from '../../../shared/core/decide/decide.ts';
import { explainDecision } from '../../../shared/core/decide/explain.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import { type Reason, textOf } from '../../../shared/core/reasons/reason.ts';
import type { Offer } from '../../../shared/core/remote/offer.ts';
import type { PoolSpec, Settings } from '../../../shared/core/settings.ts';
import { Gi, machine, now, pool, settings, snapshot } from '../support/builders.ts';
import { hour, nodeOf, offer, ordered, remote, roamers, slice, verdicts } from '../support/offers.ts';

const given = (
  offers: readonly Offer[],
  count: number,
  parts: Parameters<typeof snapshot>[0] & { remote?: PoolSpec } = {},
): Snapshot => ({
  ...snapshot({ pools: [pool(), parts.remote ?? remote()], pods: roamers(count), ...parts }),
  offers,
});

const cheap = offer('berlin.silver');
const dear = offer('oslo.gold', { price: { cpu: 0.2 } });

test("one's own machines come first, then the cheaper offer, then the dearer for what is left", () => {
  const own = machine('own', { spec: { pricing: { hourlyRate: 100 } } });
  expect(ordered(given([dear, cheap], 4, { machines: [own] }))).toEqual(['power-on own']);
  expect(ordered(given([dear, cheap], 12, { machines: [own] }))).toEqual([
    'power-on own',
    'power-on 8 of berlin.silver',
  ]);
  expect(ordered(given([dear, cheap], 14, { machines: [own] }))).toEqual([
    'power-on own',
    'power-on 8 of berlin.silver',
    'power-on 2 of oslo.gold',
  ]);
});

test('a slice is described as its driver reads it, at the price of what is taken', () => {
  const full = offer('berlin.silver', {
    region: 'eu-1',
    labels: { tier: 'x' },
    taints: [{ key: 'lent', effect: 'NoSchedule' }],
    price: { slice: 0.5, cpu: 0.1, memoryGiB: 0.01 },
  });
  const pods = roamers(3, {
    tolerations: [{ operator: 'Exists' }],
    requests: { cpu: 900, memory: Gi },
  });
  const { intents } = decide(given([full], 0, { pods }), now);
  const name = `spill-berlin-${now.toString(36)}0`;
  expect(intents).toEqual([
    {
      kind: 'power-on',
      machine: name,
      why: expect.any(String),
      reason: {
        code: 'at-price',
        because: { code: 'holds-pods', pods: 3, waiting: 3 },
        offer: 'berlin.silver',
        price: expect.closeTo(0.83),
      },
      make: {
        name,
        pool: 'remote',
        powerInterface: 'liqo',
        mgmtAddress: full.endpoint,
        liqo: { clusterID: 'berlin', class: 'default' },
        resources: { cpu: 3, memory: 3 * Gi, pods: 110 },
        pricing: { hourlyRate: expect.closeTo(0.83) },
        labels: {
          tier: 'x',
          'liqo.io/type': 'virtual-node',
          'liqo.io/remote-cluster-id': 'berlin',
          'topology.kubernetes.io/region': 'eu-1',
        },
        taints: [
          { key: 'virtual-node.liqo.io/not-allowed', value: 'true', effect: 'NoExecute' },
          { key: 'lent', effect: 'NoSchedule' },
        ],
        providerID: `liqo://berlin/${name}`,
        offer: 'berlin.silver',
        made: true,
      },
    },
  ]);
});

test('names are new with every decision, and short enough for a label', () => {
  const long = offer('A.Very_long.cluster-id-of-somebody-far-away.gold', { provider: 'A.Very_long.cluster' });
  const parts = { remote: remote({ maxSize: { cpu: 2000 }, namePrefix: 'p'.repeat(50) }) };
  const names = (at: number) => decide(given([long], 4, parts), at).intents.map((one) => one.machine);
  const all = [...names(now), ...names(now + 1)];
  expect(new Set(all).size).toBe(4);
  for (const name of all) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])$/);
});

test('two cheap offers are not beaten by one dear one that would do alone', () => {
  const small = (id: string) => offer(id, { resources: { cpu: 3000, memory: 32 * Gi } });
  expect(ordered(given([dear, small('a.x'), small('b.x')], 6))).toEqual([
    'power-on 3 of a.x',
    'power-on 3 of b.x',
  ]);
});

test('the price of what would be taken counts, not that of the largest slice', () => {
  // By the slice it is cheaper only where much is taken at once.
  const flat = offer('flat.x', { price: { slice: 0.4 } });
  expect(ordered(given([flat, cheap], 2))).toEqual(['power-on 2 of berlin.silver']);
  expect(ordered(given([flat, cheap], 6))).toEqual(['power-on 6 of flat.x']);
});

test('where prices are the same, the preferred region, then what answers faster', () => {
  const at = (id: string, region: string, latencyMs: number) => offer(id, { region, latencyMs });
  const offers = [at('a.x', 'us', 5), at('b.x', 'eu', 90), at('c.x', 'eu', 20)];
  const prefers = (regions: string[]) => ({ remote: remote({ offers: { regions } }) });
  expect(ordered(given(offers, 2, prefers(['eu', 'us'])))).toEqual(['power-on 2 of c.x']);
  expect(ordered(given(offers, 2, prefers(['us'])))).toEqual(['power-on 2 of a.x']);
  expect(ordered(given(offers, 2))).toEqual(['power-on 2 of a.x']);
});

test.each<[string, Partial<Offer>, Parameters<typeof remote>[0], Reason]>([
  ['expired', { validUntil: now - 5000 }, {}, { code: 'offer-expired', agoMs: 5000 }],
  [
    'of another provider',
    {},
    { offers: { providers: ['x'] } },
    { code: 'provider-excluded', provider: 'oslo' },
  ],
  [
    'of another region',
    { region: 'us' },
    { offers: { regions: ['eu'], onlyRegions: true } },
    { code: 'region-excluded', region: 'us' },
  ],
  [
    'too far away',
    { latencyMs: 80 },
    { offers: { maxLatencyMs: 50 } },
    { code: 'latency-too-high', latencyMs: 80, most: 50 },
  ],
  ['of unknown latency', {}, { offers: { maxLatencyMs: 50 } }, { code: 'latency-unknown' }],
  [
    'too small for its pool',
    { resources: { cpu: 500, memory: 32 * Gi } },
    {},
    { code: 'offer-used-up', offer: 'oslo.gold', resource: 'cpu', most: 500 },
  ],
])('an offer that is %s is not taken, and the record says so', (_name, parts, rules, reason) => {
  const one = given([offer('oslo.gold', parts)], 2, { remote: remote(rules) });
  expect(ordered(one)).toEqual([]);
  expect(verdicts(one)).toEqual({ 'oslo.gold': { verdict: 'rejected', ...reason } });
  expect(decide(one, now).record.unmet).toMatchObject([
    { pods: 2, reason: { code: 'nor-offers', offers: [{ offer: 'oslo.gold', reason }] } },
  ]);
});

test('only pods that tolerate a remote cluster go there', () => {
  const one = given([cheap], 0, { pods: roamers(2, { tolerations: [] }) });
  expect(ordered(one)).toEqual([]);
  expect(verdicts(one)['berlin.silver']).toEqual({
    verdict: 'rejected',
    code: 'taint-not-tolerated',
    taint: 'virtual-node.liqo.io/not-allowed=true:NoExecute',
  });
});

test('no more is taken of an offer than what others hold leaves; what is gone leaves it, what may not be does not', () => {
  const held = (name: string, status = {}) => slice(name, cheap, 3, { status });
  const free = (machines: ReturnType<typeof held>[]) =>
    ordered(given([cheap], 8, { machines })).filter((line) => line.endsWith('berlin.silver'));
  const away = { kubernetesNode: undefined, nodeReady: undefined };
  expect(free([held('s', { state: 'powering-off', operation: 'op', ...away })])).toEqual([
    'power-on 5 of berlin.silver',
  ]);
  expect(free([held('s', { state: 'off', powerState: 'off', ...away })])).toEqual([
    'power-on 8 of berlin.silver',
  ]);
  const stuck = held('s', { state: 'maintenance', powerState: 'unknown', ...away });
  expect(free([stuck])).toEqual(['power-on 5 of berlin.silver']);
});

test('an offer whose slice has just failed is left alone, and the next one is taken', () => {
  const denied = slice('s', cheap, 3, {
    status: {
      state: 'error',
      powerState: 'off',
      kubernetesNode: undefined,
      lastError: { code: 'power-on-failed', message: 'denied: no quota', at: now },
      retryAt: now + hour,
    },
  });
  const one = given([cheap, dear], 2, { machines: [denied] });
  expect(ordered(one)).toEqual(['power-on 2 of oslo.gold']);
  expect(verdicts(one)['berlin.silver']).toEqual({
    verdict: 'rejected',
    code: 'slice-failed',
    slice: 's',
    error: 'denied: no quota',
  });
});

test('an offer that gave less than was asked for is left alone for a while', () => {
  const short = (shortGrantAt: number) => {
    const lent = slice('s', cheap, 3, { status: { shortGrantAt } });
    return ordered(given([cheap, dear], 5, { machines: [lent], nodes: [nodeOf(lent)] }));
  };
  expect(short(now - 60_000)).toEqual(['power-on 2 of oslo.gold']);
  expect(short(now - hour)).toEqual(['resize 5 of berlin.silver']);
});

describe('the budget per hour', () => {
  const budget = (hourlyCost: number): Snapshot =>
    given([cheap], 8, { remote: remote({ limits: { hourlyCost } }) });
  const ofCluster = (hourlyCost: number): Snapshot =>
    given([cheap], 8, {
      settings: settings({ limits: { ...settings().limits, hourlyCost } satisfies Settings['limits'] }),
    });

  test.each([
    ['a pool', budget, 'remote'],
    ['the cluster', ofCluster, undefined],
  ])('of %s cuts a slice to what it leaves', (_name, of, name) => {
    expect(ordered(of(0.35))).toEqual(['power-on 3 of berlin.silver']);
    expect(ordered(of(0.05))).toEqual([]);
    const full = { code: 'at-limit', limit: 'hourlyCost', most: 0.05, ...(name && { pool: name }) };
    expect(verdicts(of(0.05))['berlin.silver']).toEqual({ verdict: 'rejected', ...full });
    expect(ordered(of(0.8))).toEqual(['power-on 8 of berlin.silver']);
  });

  test('counts what is there, coming or leaving, and what is not proven gone', () => {
    const with_ = (state: object) =>
      ordered(
        given([cheap, dear], 8, {
          machines: [slice('s', offer('gone.x', { price: { cpu: 0.1 } }), 5, { status: state })],
          remote: remote({ limits: { hourlyCost: 0.8 } }),
        }),
      );
    const away = { kubernetesNode: undefined, nodeReady: undefined, operation: 'op' };
    for (const state of ['powering-on', 'draining', 'powering-off'])
      expect(with_({ state, ...away })).toContain('power-on 3 of berlin.silver');
    expect(with_({ state: 'maintenance', powerState: 'unknown' })).toContain('power-on 3 of berlin.silver');
    expect(with_({ state: 'maintenance', powerState: 'off' })).toContain('power-on 8 of berlin.silver');
    const lastError = { code: 'power-on-failed', message: 'no answer in time', at: now } as const;
    expect(with_({ state: 'error', powerState: 'off', lastError, ...away })).toContain(
      'power-on 3 of berlin.silver',
    );
  });
});

test('without the policy "own" the price decides', () => {
  const own = machine('own', { spec: { pricing: { hourlyRate: 4 } } });
  const policies = ['price'] as const;
  const one = given([cheap], 4, { machines: [own], settings: settings({ policies }) });
  expect(ordered(one)).toEqual(['power-on 4 of berlin.silver']);
});

test('the record compares the offers, and explain prints it', () => {
  const offers = [cheap, dear, offer('rome.old', { validUntil: now - 60_000 })];
  const one = given(offers, 5);
  const dearer: Reason = {
    code: 'offer-not-chosen',
    pods: 5,
    needy: 5,
    price: 1,
    because: { code: 'more-expensive', offer: 'berlin.silver' } as Reason,
  };
  expect(verdicts(one)).toEqual({
    'berlin.silver': {
      verdict: 'power-on',
      code: 'offer-taken',
      slices: [`spill-berlin-${now.toString(36)}0`],
      price: 0.5,
    },
    'oslo.gold': { verdict: 'rejected', ...dearer },
    'rome.old': { verdict: 'rejected', code: 'offer-expired', agoMs: 60_000 },
  });
  const { record } = decide(one, now);
  expect(record.summary).toBe(
    `power on spill-berlin-${now.toString(36)}0 (from offer berlin.silver) for 5 pods; nothing to power off`,
  );
  expect(record.candidates).toMatchObject([
    { verdict: 'power-on', price: 0.5, score: { own: 1, price: 0.5 } },
  ]);
  expect(record.candidates[0]?.score).not.toHaveProperty('watts');
  expect(explainDecision(record).join('\n')).toContain(
    `  oslo.gold for remote      rejected: ${textOf(dearer)}`,
  );
  const both = decide(given([cheap], 4, { machines: [machine('own')] }), now).record.offers;
  expect(both).toMatchObject([
    { reason: { code: 'offer-not-chosen', pods: 4, because: { code: 'own-machines-first' } } },
  ]);
});
