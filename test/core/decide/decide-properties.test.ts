import { type Considered, decide } from '../../../shared/core/decide/decide.ts';
import type { Intent } from '../../../shared/core/decide/decision.ts';
import { count, podName, type Snapshot, waitingPods } from '../../../shared/core/decide/snapshot.ts';
import { capacityOf, type MachineEvent } from '../../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import { transition } from '../../../shared/core/machine/transition.ts';
import { cases } from '../../../tools/support/long.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { anySnapshot, restfulSnapshot } from '../support/arbitraries.ts';
import { minute, node, now } from '../support/builders.ts';
import { canPlace, holdsAll, mayRunOn, podsThere, spotOfMachine, spotOfNode } from '../support/checker.ts';
import { deepFreeze } from '../support/deep-freeze.ts';

const runs = { numRuns: cases(400, 60) };
const holds = (check: (snapshot: Snapshot, decision: Considered) => void, given = anySnapshot): void => {
  fc.assert(
    fc.property(given, (snapshot) => check(snapshot, decide(snapshot, now))),
    runs,
  );
};

/** All of a decision that is written down or acted upon. */
const outcome = ({ assignments, ...decision }: Considered) => ({ ...decision, assignments: assignments() });

const named = (decision: Considered, kind: Intent['kind']): string[] =>
  decision.intents.filter((intent) => intent.kind === kind).map((intent) => intent.machine);

const members = (snapshot: Snapshot, pool: string) =>
  snapshot.machines.filter(({ spec }) => spec.pool === pool);

test('the same snapshot gives the same decision, and stays as it is', () => {
  holds((snapshot, decision) => {
    expect(outcome(decide(deepFreeze(structuredClone(snapshot)), now))).toEqual(outcome(decision));
  });
});

test('a recorded snapshot replays to the same bytes', () => {
  holds((snapshot, { record }) => {
    const replayed = decide(JSON.parse(JSON.stringify(snapshot)), now);
    expect(JSON.stringify(replayed.record)).toBe(JSON.stringify(record));
  });
});

test('the order of machines, pods, nodes and pools makes no difference', () => {
  const shuffle = <Item>(items: readonly Item[]) =>
    fc.shuffledSubarray([...items], { minLength: items.length });
  const shuffled = anySnapshot.chain((snapshot) =>
    fc.record({
      given: fc.constant(snapshot),
      other: fc.record({
        machines: shuffle(snapshot.machines),
        pools: shuffle(snapshot.pools),
        settings: fc.constant(snapshot.settings),
        cluster: fc.record({ pods: shuffle(snapshot.cluster.pods), nodes: shuffle(snapshot.cluster.nodes) }),
      }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ given, other }) => {
      expect(outcome(decide(other, now))).toEqual(outcome(decide(given, now)));
    }),
    runs,
  );
});

test('the digest tells snapshots apart that differ in anything', () => {
  fc.assert(
    fc.property(anySnapshot, fc.nat(), (snapshot, which) => {
      const { pods, nodes } = snapshot.cluster;
      const { digest } = decide(snapshot, now).record;
      const changed: Snapshot[] = [
        { ...snapshot, settings: { ...snapshot.settings, dryRun: true } },
        { ...snapshot, ownNode: 'elsewhere' },
        { ...snapshot, cluster: { pods, nodes: [...nodes, node('new')] } },
        ...snapshot.machines.slice(0, 1).map((machine) => ({
          ...snapshot,
          machines: snapshot.machines.map((one) =>
            one === machine ? { ...one, status: { ...one.status, attempts: 7 } } : one,
          ),
        })),
        ...pods.slice(0, 1).map((pod) => ({
          ...snapshot,
          cluster: { nodes, pods: pods.map((one) => (one === pod ? { ...one, priority: 5 } : one)) },
        })),
      ];
      const other = changed[which % changed.length];
      if (other) expect(decide(other, now).record.digest).not.toBe(digest);
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

const eventOf: Readonly<Record<Exclude<Intent['kind'], 'resize'>, MachineEvent>> = {
  'power-on': { type: 'power-on-requested', operation: 'op' },
  drain: { type: 'drain-requested', operation: 'op' },
  'cancel-drain': { type: 'drain-aborted', why: '', needed: true },
};

const machineOf = (snapshot: Snapshot, name: string): Machine => {
  const found = snapshot.machines.find(({ spec }) => spec.name === name);
  if (!found) throw new Error(`${name} is not in the snapshot`);
  return found;
};

test('every intent is one that its machine accepts', () => {
  holds((snapshot, decision) => {
    for (const { kind, machine } of decision.intents) {
      if (kind === 'resize') continue;
      const { timings } = snapshot.settings;
      expect(transition(machineOf(snapshot, machine), eventOf[kind], now, timings)).toMatchObject({
        ok: true,
      });
    }
  });
});

test('every machine is named once, with its verdict and a reason', () => {
  holds((snapshot, decision) => {
    const { candidates } = decision.record;
    expect(candidates.map(({ machine }) => machine)).toEqual(
      snapshot.machines.map(({ spec }) => spec.name).sort(),
    );
    expect(candidates.filter(({ why, reason }) => why === '' || !reason)).toEqual([]);
    for (const kind of ['power-on', 'drain', 'cancel-drain'] as const)
      expect(candidates.filter(({ verdict }) => verdict === kind).map(({ machine }) => machine)).toEqual(
        named(decision, kind).sort(),
      );
  });
});

test('every pod that is counted as served has a place, as an independent judge finds', () => {
  let served = 0;
  holds((snapshot, decision) => {
    const byName = new Map(snapshot.cluster.pods.map((pod) => [podName(pod), pod]));
    const assigned = new Map<string, string[]>();
    for (const { pods, on } of decision.assignments())
      assigned.set(on, [...(assigned.get(on) ?? []), ...pods]);
    const total = [...assigned.values()].flat();
    expect(new Set(total).size).toBe(total.length);
    for (const [on, names] of assigned) {
      const real = snapshot.cluster.nodes.find(({ name }) => name === on);
      const spot = real ? spotOfNode(real) : spotOfMachine(machineOf(snapshot, on));
      const pods = names.flatMap((name) => byName.get(name) ?? []);
      expect(pods.every((pod) => mayRunOn(pod, spot))).toBe(true);
      expect(holdsAll(spot, [...podsThere(snapshot, on), ...pods])).toBe(true);
      served += pods.length;
    }
    const unmet = decision.record.unmet.reduce((sum, { pods }) => sum + pods, 0);
    expect(total.length + unmet).toBe(waitingPods(snapshot.cluster).length);
  });
  expect(served).toBeGreaterThan(cases(100, 15));
});

test('a scale-down loses no pod: an independent judge finds them all a place elsewhere, together', () => {
  let moved = 0;
  holds((snapshot, decision) => {
    const off = named(decision, 'drain');
    if (off.length === 0) return;
    const assigned = new Map<string, string[]>();
    for (const { pods, on } of decision.assignments())
      assigned.set(on, [...(assigned.get(on) ?? []), ...pods]);
    const leaving = off.flatMap((name) =>
      podsThere(snapshot, name).filter((pod) => !pod.belongsToNode && !pod.terminating),
    );
    expect(leaving.every(({ movable }) => movable)).toBe(true);
    const closed = new Set([
      ...off,
      ...snapshot.machines
        .filter((machine) => capacityOf(machine) === 'leaving')
        .map(({ spec }) => spec.name),
    ]);
    const spots = snapshot.cluster.nodes
      .filter(({ name, ready, unschedulable }) => ready && !unschedulable && !closed.has(name))
      .map((one) => ({
        spot: spotOfNode(one),
        pods: [
          ...podsThere(snapshot, one.name),
          ...snapshot.cluster.pods.filter((pod) => assigned.get(one.name)?.includes(podName(pod))),
        ],
      }));
    expect(canPlace(leaving, spots)).toBe(true);
    moved += leaving.length;
  }, restfulSnapshot);
  expect(moved).toBeGreaterThan(cases(100, 5));
});

/** The cluster once everything that was ordered is there and the scheduler has put pods where they were counted on. */
function carriedOut(snapshot: Snapshot, decision: Considered): Snapshot {
  const on = new Set(named(decision, 'power-on'));
  const kept = new Set(named(decision, 'cancel-drain'));
  const arrives = (machine: Machine): boolean =>
    on.has(machine.spec.name) || capacityOf(machine) === 'coming';
  const machines = snapshot.machines.map((machine) =>
    arrives(machine) || kept.has(machine.spec.name)
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
  const nodes = [
    ...snapshot.cluster.nodes.map((one) => (kept.has(one.name) ? { ...one, unschedulable: false } : one)),
    ...snapshot.machines.filter(arrives).map((machine) => {
      const { name, labels, has } = spotOfMachine(machine);
      return node(name, { labels, allocatable: has });
    }),
  ];
  const bound = new Map(
    decision.assignments().flatMap(({ pods, on: to }) => pods.map((pod) => [pod, to] as const)),
  );
  const pods = snapshot.cluster.pods.map((pod) => {
    const to = bound.get(podName(pod));
    return to ? { ...pod, node: to, unschedulable: undefined } : pod;
  });
  return { ...snapshot, machines, cluster: { nodes, pods } };
}

test('once what was ordered is there, nothing more is ordered for the same pods', () => {
  holds((snapshot, decision) => {
    const settled = decide(carriedOut(snapshot, decision), now);
    // What was on its way already may still be exchanged for something more frugal.
    const ordered = settled.intents.filter(
      ({ kind, reason }) => kind === 'cancel-drain' || (kind === 'power-on' && reason?.code !== 'replaces'),
    );
    expect(ordered).toEqual([]);
  });
});

test('nor while it is on its way', () => {
  holds((snapshot, decision) => {
    const on = new Set(named(decision, 'power-on'));
    const kept = new Set(named(decision, 'cancel-drain'));
    const machines = snapshot.machines.map((machine): Machine => {
      const { status, spec } = machine;
      if (on.has(spec.name))
        return { ...machine, status: { ...status, state: 'powering-on', operation: 'op' } };
      if (kept.has(spec.name))
        return { ...machine, status: { ...status, state: 'ready', operation: undefined } };
      return machine;
    });
    const nodes = snapshot.cluster.nodes.map((one) =>
      kept.has(one.name) ? { ...one, unschedulable: false } : one,
    );
    const again = decide({ ...snapshot, machines, cluster: { ...snapshot.cluster, nodes } }, now);
    expect([...named(again, 'power-on'), ...named(again, 'cancel-drain')]).toEqual([]);
  });
});

test('what was just ordered is not given up again while its pods wait for the scheduler', () => {
  holds((snapshot, decision) => {
    const on = decision.record.candidates
      .filter(({ verdict, reason }) => verdict === 'power-on' && reason?.code === 'holds-pods')
      .map(({ machine }) => machine);
    const { pods } = snapshot.cluster;
    const arrived = carriedOut(snapshot, decision);
    const later = decide({ ...arrived, cluster: { ...arrived.cluster, pods } }, now + minute);
    expect(named(later, 'drain').filter((name) => on.includes(name))).toEqual([]);
  });
});
