import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import type { Reason } from '../../../shared/core/reasons/reason.ts';
import type { Offer } from '../../../shared/core/remote/offer.ts';
import { Gi, machine, node, now, pool, serving, snapshot } from '../support/builders.ts';
import { intents, verdict } from '../support/decisions.ts';
import { nodeOf, offer, ordered, remote, roamers, roamersOn, slice } from '../support/offers.ts';

const agreed = offer('berlin.silver');
const other = offer('oslo.gold', { price: { cpu: 0.2 } });
const keeper = node('keeper', { allocatable: { cpu: 100, memory: Gi, pods: 110 } });

/** A slice of four cores with four pods on it, while its offer has become something else. */
const given = (
  offers: readonly Offer[] | undefined,
  {
    machines = [],
    nodes = [],
    ...parts
  }: Parameters<typeof snapshot>[0] & {
    metrics?: Machine['metrics'];
    pods?: Snapshot['cluster']['pods'];
  } = {},
  metrics: Machine['metrics'] = {},
): Snapshot => {
  const lent = slice('s', agreed, 4, { metrics });
  return {
    ...snapshot({
      machines: [lent, ...machines],
      nodes: [nodeOf(lent), keeper, ...nodes],
      pools: [pool(), remote()],
      pods: roamersOn('s', 4),
      ...parts,
    }),
    offers,
  };
};

/** The same reason, whatever rounding does to its numbers. */
const near = (reason: Reason): object =>
  Object.fromEntries(
    Object.entries(reason).map(([name, fact]) => [
      name,
      typeof fact === 'number' ? expect.closeTo(fact) : fact,
    ]),
  );

const expired = { ...agreed, validUntil: now - 60_000 };
const dearer = offer('berlin.silver', { price: { cpu: 0.3 } });

const costs: Reason = { code: 'price-raised', offer: 'berlin.silver', price: 1.2, agreed: 0.4 };

test.each<[string, Offer[], Machine['metrics'], Reason]>([
  ['gone from the listing', [], {}, { code: 'offer-gone', offer: 'berlin.silver' }],
  ['expired', [expired], {}, { code: 'slice-expired', offer: 'berlin.silver', agoMs: 60_000 }],
  ['dearer than agreed', [dearer], {}, costs],
  [
    'taken back by its provider',
    [agreed],
    { health: 'critical', problems: ['denied: drained'] },
    { code: 'provider-stopped', problems: 'denied: drained' },
  ],
])(
  'an offer that is %s is told apart; where nothing else can hold its pods, the slice stays',
  (_name, offers, metrics, due) => {
    const alone = given(offers, {}, metrics);
    expect(intents(alone)).toEqual([]);
    expect(verdict(alone, 's')).toMatchObject({
      verdict: 'kept',
      code: 'slice-stays',
      due: near(due),
      because: { code: 'nothing-else-holds-pods' },
    });
    // Room that is there already.
    const roomy = given(offers, { nodes: [node('roomy')] }, metrics);
    expect(intents(roomy)).toEqual(['drain s']);
    expect(verdict(roomy, 's')).toMatchObject({
      verdict: 'drain',
      code: 'slice-returns',
      due: near(due),
      pods: 4,
    });
  },
);

test('unless something is wrong, a slice in use stays as it is', () => {
  expect(intents(given([agreed, other], { nodes: [node('roomy')] }))).toEqual([]);
  expect(intents(given(undefined, { nodes: [node('roomy')] }))).toEqual([]);
});

test("one's own machine, or another offer, is had first; the slice goes when that is Ready", () => {
  const own = machine('own');
  const first = given([expired, other], { machines: [own] });
  expect(ordered(first)).toEqual(['power-on own']);
  expect(verdict(first, 's')).toEqual({
    verdict: 'kept',
    code: 'slice-stays',
    due: { code: 'slice-expired', offer: 'berlin.silver', agoMs: 60_000 },
    because: { code: 'replaced-by', by: ['own'] },
  });
  expect(verdict(first, 'own')).toEqual({ verdict: 'power-on', code: 'replaces', machine: 's' });
  expect(ordered(given([expired, other]))).toEqual(['power-on 4 of oslo.gold']);

  const coming: Machine = { ...own, status: { ...own.status, state: 'joining', powerState: 'on' } };
  const second = given([expired, other], { machines: [coming] });
  expect(intents(second)).toEqual([]);
  expect(verdict(second, 's')).toMatchObject({ because: { code: 'fits-on-coming', on: ['own'] } });

  const third = given([expired, other], { machines: [serving('own')], nodes: [node('own')] });
  expect(intents(third)).toEqual(['drain s']);
});

test('a dearer offer is left only for something cheaper', () => {
  expect(ordered(given([dearer, other]))).toEqual(['power-on 4 of oslo.gold']);
  const dearest = offer('rome.platinum', { price: { cpu: 0.5 } });
  expect(ordered(given([dearer, dearest]))).toEqual([]);
});

test('a second slice that is withdrawn gets a place of its own', () => {
  const second = slice('t', agreed, 4);
  const both = given([expired, other], {
    machines: [second, machine('own')],
    nodes: [nodeOf(second)],
    pods: [...roamersOn('s', 4), ...roamersOn('t', 4)],
  });
  expect(ordered(both)).toEqual(['power-on own', 'power-on 4 of oslo.gold']);
});

test('pods that may not be moved keep it, whatever became of its offer', () => {
  const held = given([], {
    nodes: [node('roomy')],
    pods: roamersOn('s', 4, { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } }),
  });
  expect(intents(held)).toEqual([]);
  expect(verdict(held, 's')).toMatchObject({
    verdict: 'kept',
    due: { code: 'offer-gone', offer: 'berlin.silver' },
    because: { code: 'not-safe-to-evict' },
  });
});

describe('beyond the budget', () => {
  const within = (hourlyCost: number) => ({ pools: [pool(), remote({ limits: { hourlyCost } })] });

  test('it is drained, even if nothing else can hold its pods', () => {
    const over = given([dearer], within(1));
    expect(intents(over)).toEqual(['drain s']);
    expect(verdict(over, 's')).toMatchObject({
      verdict: 'drain',
      code: 'slice-returns',
      due: near(costs),
      also: { code: 'over-hourly-cost', pool: 'remote', cost: expect.closeTo(1.2), most: 1 },
    });
    expect(intents(given([dearer], within(1.2)))).toEqual([]);
  });

  test('no more than necessary goes, the dearest first', () => {
    const small = slice('t', agreed, 2);
    const parts = {
      machines: [small],
      nodes: [nodeOf(small)],
      pods: [...roamersOn('s', 4), ...roamersOn('t', 2)],
    };
    expect(intents(given([agreed], { ...parts, ...within(0.5) }))).toEqual(['drain s']);
    expect(intents(given([agreed], { ...parts, ...within(0.1) })).sort()).toEqual(['drain s', 'drain t']);
  });

  test('its drain is not called off for the pods that lose their place', () => {
    const draining = slice('s', agreed, 4, { status: { state: 'draining', operation: 'op' } });
    const at = (offers: Offer[], hourlyCost: number) => ({
      ...snapshot({
        machines: [draining],
        nodes: [nodeOf(draining), keeper],
        pods: roamers(4),
        ...within(hourlyCost),
      }),
      offers,
    });
    expect(intents(at([agreed], 0.4))).toEqual(['cancel-drain s']);
    expect(intents(at([dearer], 1))).toEqual([]);
    expect(intents(at([expired], 0.4))).toEqual([]);
    expect(decide(at([dearer], 1), now).record.offers).toMatchObject([
      { reason: { code: 'at-limit', pool: 'remote', limit: 'hourlyCost', most: 1 } },
    ]);
  });
});

test('no more is lent by a provider whose node is silent, or that is not well', () => {
  const lent = slice('s', agreed, 4);
  const silent: Snapshot = {
    ...snapshot({
      machines: [lent],
      nodes: [nodeOf(lent, { ready: false }), keeper],
      pools: [remote()],
      pods: roamers(2),
    }),
    offers: [agreed, offer('berlin.bronze', { price: { cpu: 0.05 } }), other],
  };
  expect(ordered(silent)).toEqual(['power-on 2 of oslo.gold']);
});

test('of two empty machines the one that is lent goes first', () => {
  const lent = slice('s', agreed, 4, { metrics: { idleSince: now - 3_600_000 } });
  const own = serving('own');
  const idle: Snapshot = {
    ...snapshot({
      machines: [own, lent],
      nodes: [node('own'), nodeOf(lent)],
      pools: [pool(), remote()],
    }),
    offers: [agreed],
  };
  expect(intents(idle)).toEqual(['drain s']);
});
