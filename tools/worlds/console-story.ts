import type { ClusterView, Pod } from '../../shared/core/cluster/cluster.ts';
import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import { tierNames, tiers } from '../../shared/core/energy/trend.ts';
import { states } from '../../shared/core/machine/lifecycle.ts';
import { keys } from '../../shared/state/keys.ts';

interface Written {
  readonly key: string;
  readonly value: object;
}

const gibi = 2 ** 30;

/** Pods on the nodes of these machines, more on some than on others, and some that wait. */
export function clusterOf(nodes: readonly string[], longNames: boolean): ClusterView {
  const pod = (name: string, more: Partial<Pod>): Pod =>
    ({
      uid: name,
      namespace: longNames ? 'a-namespace-of-the-research-group-north' : 'shop',
      name,
      finished: false,
      terminating: false,
      belongsToNode: false,
      movable: true,
      requests: { cpu: 4_000, memory: 16 * gibi },
      nodeSelector: {},
      tolerations: [],
      createdAt: Date.now() - 95_000,
      ...more,
    }) as Pod;
  const running = nodes.flatMap((node, index) =>
    Array.from({ length: index % 8 }, (_, at) => pod(`web-${index}-${at}`, { node })),
  );
  const waiting = Array.from({ length: 23 }, (_, index) =>
    pod(longNames ? `trainer-with-a-very-long-name-7f9c8d6b54-${index}x2kq` : `trainer-${index}`, {
      requests: { cpu: 8_000, memory: 64 * gibi, 'nvidia.com/gpu': 2, 'example.com/infiniband-adapter': 1 },
      unschedulable: '0/12 nodes are available: 12 Insufficient nvidia.com/gpu.',
      createdAt: Date.now() - index * 3_700_000 - 20_000,
    }),
  );
  return {
    pods: [...running, ...waiting],
    nodes: [],
    daemonSets: [],
    namespaces: [],
    volumes: [],
    claims: [],
    storageClasses: [],
    budgets: [],
  } as unknown as ClusterView;
}

/** Decisions of the last hours: some act, most have nothing to do. */
export function decisionsOf(names: readonly string[]): Written[] {
  return Array.from({ length: 60 }, (_, back) => {
    const at = Date.now() - (60 - back) * 240_000;
    const acts = back % 6 === 5;
    return {
      key: keys.decision(`d-${at.toString(36)}-${String(back).padStart(3, '0')}`),
      value: acts ? acting(names, at, back) : quiet(at, back),
    };
  });
}

const quiet = (at: number, turn: number): DecisionRecord => ({
  at,
  digest: `quiet${turn}`,
  summary: 'nothing to do',
  demand: [],
  wants: [],
  candidates: [],
  limits: [],
  unmet: [],
  notes: [],
  intents: [],
});

function acting(names: readonly string[], at: number, turn: number): DecisionRecord {
  const [one = 'a', two = 'b', leaving = 'c', ...others] = names;
  const score = (index: number) => ({
    priority: -10,
    health: 0,
    watts: 12.5 + index,
    waste: 0.18,
    diversity: 300_002_000_01,
    'boot-time': 118_000,
    wear: at - 7 * 3_600_000,
  });
  const example = 'shop/trainer-0';
  return {
    at,
    digest: `4f1c9e${turn}`,
    summary: `powers on ${one}, ${two}; drains ${leaving}; 3 pods cannot be served`,
    demand: [
      { pods: 12, requests: { cpu: 4_000, memory: 16 * gibi }, example: 'shop/web-0', room: 4, served: 8 },
      {
        pods: 11,
        requests: { cpu: 8_000, memory: 64 * gibi, 'nvidia.com/gpu': 2 },
        example,
        room: 0,
        served: 8,
      },
    ],
    wants: ['pool-1 keeps at least 2 on'],
    candidates: [
      { machine: one, verdict: 'power-on', why: 'holds 8 of 12 waiting pods', watts: 300, score: score(0) },
      { machine: two, verdict: 'power-on', why: 'holds 8 of 11 waiting pods', watts: 300, score: score(1) },
      { machine: leaving, verdict: 'drain', why: 'not needed for 600 s; its 3 pods fit elsewhere' },
      ...others.slice(0, 40).map((machine, index) => ({
        machine,
        verdict: index % 3 === 0 ? ('kept' as const) : ('rejected' as const),
        why: index % 3 === 0 ? '61 % in use' : 'not needed: the others hold all pods',
      })),
    ],
    limits: ['pool-2 pauses 180 s after a failure: 74 s to go'],
    unmet: [
      { pod: example, pods: 3, why: '2 nvidia.com/gpu wanted, and no machine that is off has so many' },
    ],
    notes: ['trigger queue of pool-3 could not be read'],
    intents: [
      { kind: 'power-on', machine: one, why: 'holds 8 of 12 waiting pods' },
      { kind: 'power-on', machine: two, why: 'holds 8 of 11 waiting pods' },
      { kind: 'drain', machine: leaving, why: 'not needed for 600 s' },
    ],
  };
}

/** Thirty days of a fleet that follows the day, as the store keeps them. */
export function trendOf(machines: number, poolNamed: (index: number) => string): Written[] {
  const now = Date.now();
  const wave = (at: number, shift = 0): number =>
    0.5 +
    0.4 * Math.sin((at - now) / 13_750_000 + shift) +
    0.08 * Math.sin((at - now) / 1_100_000 + shift * 3);
  return tierNames.map((tier) => {
    const { everyMs, most } = tiers[tier];
    const at = Array.from({ length: most }, (_, index) => now - (most - index) * everyMs);
    const ready = at.map((time) => Math.round(machines * 0.9 * wave(time)));
    const some = (share: number, shift: number) =>
      at.map((time) => Math.max(0, Math.round(machines * share * (wave(time, shift) - 0.3))));
    const joining = some(0.12, 1);
    const draining = some(0.1, 2);
    const columns: Record<string, number[]> = {
      'watts/now': ready.map((count) => count * 180 + 200),
      'watts/all-on': at.map(() => machines * 190),
      'begun/power-on': at.map((_, index) => (index % 4 === 0 ? (index % 3) + 1 : 0)),
      'begun/drain': at.map((_, index) => (index % 5 === 0 ? index % 4 : 0)),
      'pods/waiting': at.map((time) => Math.max(0, Math.round(40 * (wave(time, 2) - 0.5)))),
    };
    for (const state of states) columns[`state/${state}`] = at.map(() => 0);
    columns['state/ready'] = ready;
    columns['state/joining'] = joining;
    columns['state/draining'] = draining;
    columns['state/error'] = at.map(() => Math.round(machines / 40));
    columns['state/off'] = ready.map((count, index) =>
      Math.max(
        0,
        machines - count - (joining[index] ?? 0) - (draining[index] ?? 0) - Math.round(machines / 40),
      ),
    );
    for (let index = 0; index < 5; index += 1)
      columns[`used/${poolNamed(index)}`] = at.map((time) =>
        Math.round(100 * Math.min(1, wave(time, index))),
      );
    return { key: keys.global(`trend-${tier}`), value: { at, columns } };
  });
}
