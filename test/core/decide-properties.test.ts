import fc from 'fast-check';
import { decide } from '../../shared/core/decide.ts';
import type { Decision } from '../../shared/core/decision.ts';
import { capacityOf } from '../../shared/core/lifecycle.ts';
import { place } from '../../shared/core/pack.ts';
import { count, openNodes, placeOf, type Snapshot, waitingPods } from '../../shared/core/snapshot.ts';
import { byText } from '../../shared/core/text.ts';
import { transition } from '../../shared/core/transition.ts';
import { anySnapshot } from './support/arbitraries.ts';
import { minute, node, now } from './support/builders.ts';
import { deepFreeze } from './support/deep-freeze.ts';

const runs = { numRuns: 400 };
const holds = (check: (snapshot: Snapshot, decision: Decision) => void): void => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => check(snapshot, decide(snapshot, now))),
    runs,
  );
};

const named = (decision: Decision, kind: 'power-on' | 'drain'): string[] =>
  decision.intents.filter((intent) => intent.kind === kind).map((intent) => intent.machine);

const members = (snapshot: Snapshot, pool: string) =>
  snapshot.machines.filter(({ spec }) => spec.pool === pool);

test('the same snapshot gives the same decision, and stays as it is', () => {
  holds((snapshot, decision) => {
    expect(decide(deepFreeze(structuredClone(snapshot)), now)).toEqual(decision);
  });
});

test('the order of machines, pods, nodes and pools makes no difference', () => {
  const shuffled = anySnapshot.chain((snapshot) =>
    fc.record({
      given: fc.constant(snapshot),
      other: fc.record({
        machines: fc.shuffledSubarray([...snapshot.machines], { minLength: snapshot.machines.length }),
        pools: fc.shuffledSubarray([...snapshot.pools], { minLength: snapshot.pools.length }),
        settings: fc.constant(snapshot.settings),
        cluster: fc.record({
          pods: fc.shuffledSubarray([...snapshot.cluster.pods], { minLength: snapshot.cluster.pods.length }),
          nodes: fc.shuffledSubarray([...snapshot.cluster.nodes], {
            minLength: snapshot.cluster.nodes.length,
          }),
        }),
      }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ given, other }) => {
      expect(decide(other, now)).toEqual(decide(given, now));
    }),
    runs,
  );
});

test('fault 30: no pool is brought above its maximum', () => {
  holds((snapshot, decision) => {
    const on = named(decision, 'power-on');
    for (const { name, limits } of snapshot.pools) {
      const chosen = members(snapshot, name).filter(({ spec }) => on.includes(spec.name)).length;
      const already = count(members(snapshot, name), 'coming', 'serving', 'leaving');
      if (chosen > 0 && limits.maxNodes > 0) expect(already + chosen).toBeLessThanOrEqual(limits.maxNodes);
    }
  });
});

test('no pool is drained below its minimum, nor a cluster of its last Ready node', () => {
  holds((snapshot, decision) => {
    const off = named(decision, 'drain');
    for (const { name, limits } of snapshot.pools) {
      const leaving = members(snapshot, name).filter(({ spec }) => off.includes(spec.name)).length;
      if (leaving > 0)
        expect(count(members(snapshot, name), 'serving') - leaving).toBeGreaterThanOrEqual(limits.minNodes);
    }
    const ready = snapshot.cluster.nodes.filter((candidate) => candidate.ready).length;
    if (off.length > 0) expect(ready - off.length).toBeGreaterThanOrEqual(1);
  });
});

test('every intent is one that its machine accepts', () => {
  holds((snapshot, decision) => {
    for (const { kind, machine } of decision.intents) {
      const given = snapshot.machines.find(({ spec }) => spec.name === machine);
      if (!given) throw new Error(`${machine} is not in the snapshot`);
      const type = kind === 'power-on' ? 'power-on-requested' : 'drain-requested';
      const result = transition(given, { type, operation: 'op' }, now, snapshot.settings.timings);
      expect(result).toMatchObject({ ok: true });
    }
  });
});

test('every machine is named once, with its verdict and a reason', () => {
  holds((snapshot, decision) => {
    const { candidates } = decision.record;
    expect(candidates.map(({ machine }) => machine)).toEqual(
      snapshot.machines.map(({ spec }) => spec.name).sort(),
    );
    expect(candidates.filter(({ why }) => why === '')).toEqual([]);
    for (const kind of ['power-on', 'drain'] as const)
      expect(candidates.filter(({ verdict }) => verdict === kind).map(({ machine }) => machine)).toEqual(
        named(decision, kind).sort(),
      );
  });
});

test('no node is emptied that runs a pod which cannot move', () => {
  holds((snapshot, decision) => {
    for (const name of named(decision, 'drain'))
      expect(
        snapshot.cluster.pods.filter(
          (pod) => pod.node === name && !pod.finished && !pod.belongsToNode && !pod.movable,
        ),
      ).toEqual([]);
  });
});

/** What the cluster looks like once everything that was ordered is there and the scheduler has been round. */
function carriedOut(snapshot: Snapshot, on: readonly string[]): Snapshot {
  const arrives = (name: string, capacity: string): boolean => on.includes(name) || capacity === 'coming';
  const machines = snapshot.machines.map((machine) =>
    arrives(machine.spec.name, capacityOf(machine))
      ? {
          ...machine,
          status: {
            ...machine.status,
            state: 'ready' as const,
            stateSince: now,
            powerState: 'on' as const,
            operation: undefined,
            kubernetesNode: machine.spec.name,
            nodeReady: true,
          },
        }
      : machine,
  );
  // Room is used in the order it was counted in: what is there, what was coming, what was ordered.
  const turn = ({ spec }: (typeof machines)[number]): number => on.indexOf(spec.name);
  const nodes = [
    ...snapshot.cluster.nodes.toSorted((a, b) => byText(a.name, b.name)),
    ...snapshot.machines
      .filter((machine) => arrives(machine.spec.name, capacityOf(machine)))
      .sort((a, b) => turn(a) - turn(b) || byText(a.spec.name, b.spec.name))
      .map((machine) => {
        const { name, labels, free } = placeOf(machine);
        return node(name, { labels, allocatable: free });
      }),
  ];
  const open = openNodes({ ...snapshot, machines, cluster: { nodes, pods: snapshot.cluster.pods } });
  const waiting = new Set(waitingPods(snapshot.cluster));
  const bind = new Map([...waiting].map((pod) => [pod, place(pod, open)]));
  const pods = snapshot.cluster.pods.map((pod) => {
    const to = bind.get(pod);
    return to ? { ...pod, node: to, unschedulable: undefined } : pod;
  });
  return { ...snapshot, machines, cluster: { nodes, pods } };
}

test('once what was ordered is there, nothing more is ordered for the same pods', () => {
  holds((snapshot, decision) => {
    const on = named(decision, 'power-on');
    const settled = carriedOut(snapshot, on);
    expect(named(decide(settled, now), 'power-on')).toEqual([]);
  });
});

test('what was just ordered is not given up again while its pods wait for the scheduler', () => {
  holds((snapshot, decision) => {
    const on = named(decision, 'power-on').filter((name) =>
      decision.record.candidates.some(({ machine, why }) => machine === name && why.startsWith('holds')),
    );
    const { pods } = snapshot.cluster;
    const arrived = carriedOut(snapshot, on);
    const later = decide({ ...arrived, cluster: { ...arrived.cluster, pods } }, now + minute);
    expect(named(later, 'drain').filter((name) => on.includes(name))).toEqual([]);
  });
});
