import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import { now, snapshot } from '../support/builders.ts';
import { nodeOf, offer, ordered, remote, roamers, roamersOn, slice } from '../support/offers.ts';

const lent = offer('berlin.silver');

/** A slice of so many cores that is full, and more pods that wait. */
const full = (
  waiting: number,
  parts: Parameters<typeof snapshot>[0] & { offers?: Snapshot['offers']; machine?: Machine } = {},
): Snapshot => {
  const machine = parts.machine ?? slice('s', lent, 4);
  const coming = machine.status.state !== 'ready';
  return {
    ...snapshot({
      machines: [machine],
      pools: [remote()],
      nodes: coming ? [] : [nodeOf(machine)],
      pods: coming ? roamers(4 + waiting) : [...roamersOn('s', 4), ...roamers(waiting)],
      ...parts,
    }),
    offers: parts.offers ?? [lent],
  };
};

test('a slice that serves is made larger instead of a second one, described as before', () => {
  const { intents, record, candidates } = decide(full(2), now);
  expect(intents).toMatchObject([
    {
      kind: 'resize',
      machine: 's',
      reason: {
        code: 'at-price',
        because: { code: 'holds-pods', pods: 2, waiting: 2 },
        price: expect.closeTo(0.2),
      },
      make: {
        name: 's',
        offer: 'berlin.silver',
        made: true,
        resources: { cpu: 6 },
        pricing: { hourlyRate: expect.closeTo(0.6) },
      },
    },
  ]);
  expect(record.summary).toBe('enlarge s; nothing to power off');
  expect(candidates).toMatchObject([{ machine: 's', verdict: 'resize', price: expect.closeTo(0.2) }]);
  expect(record.offers).toMatchObject([{ offer: 'berlin.silver', verdict: 'resize' }]);
});

test('and so is one that is on its way', () => {
  const coming = slice('s', lent, 4, {
    status: { state: 'powering-on', operation: 'op', kubernetesNode: undefined, nodeReady: undefined },
  });
  expect(ordered(full(2, { machine: coming }))).toEqual(['resize 6 of berlin.silver']);
});

test('once it is asked for it is counted on, before its node shows it', () => {
  const asked = full(2, { machine: slice('s', lent, 6), nodes: [nodeOf(slice('s', lent, 4))] });
  expect(ordered(asked)).toEqual([]);
  expect(decide(asked, now).record.summary).toContain('room for 2 waiting pods is on its way');
});

test('no further than its offer, its pool and the budget go: a second offer takes the rest', () => {
  const dear = offer('oslo.gold', { price: { cpu: 0.2 } });
  expect(ordered(full(6, { offers: [lent, dear] }))).toEqual([
    'resize 8 of berlin.silver',
    'power-on 2 of oslo.gold',
  ]);
  expect(ordered(full(6, { pools: [remote({ limits: { hourlyCost: 0.65 } })] }))).toEqual([
    'resize 6 of berlin.silver',
  ]);
  expect(ordered(full(4, { pools: [remote({ maxSize: { cpu: 6000 } })] }))).toEqual([
    'resize 6 of berlin.silver',
    'power-on 2 of berlin.silver',
  ]);
});

test('it is no further machine: maxNodes and batchSize do not keep it from growing', () => {
  const pools = [remote({ limits: { maxNodes: 1 }, scaleUp: { batchSize: 1 } })];
  expect(ordered(full(2, { pools }))).toEqual(['resize 6 of berlin.silver']);
});

test('pods that would not go there get a slice of their own', () => {
  const keepsAway = {
    podAntiAffinity: [
      {
        topologyKey: 'kubernetes.io/hostname',
        selector: [{ key: 'app', operator: 'In' as const, values: ['a'] }],
      },
    ],
  };
  const given = full(0, {
    pods: [...roamersOn('s', 4, { labels: { app: 'a' } }), ...roamers(1, { rules: keepsAway })],
  });
  expect(ordered(given)).toEqual(['power-on 1 of berlin.silver']);
});

test('a slice whose offer has ended, is dearer now, or is not well does not grow', () => {
  for (const offers of [
    [],
    [{ ...lent, validUntil: now }],
    [offer('berlin.silver', { price: { cpu: 0.3 } })],
  ])
    expect(ordered(full(2, { offers })).filter((line) => line.startsWith('resize'))).toEqual([]);
  const ill = slice('s', lent, 4, { metrics: { health: 'warning', problems: ['does not answer'] } });
  expect(ordered(full(2, { machine: ill }))).toEqual([]);
});
