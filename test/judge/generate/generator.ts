import type { Node } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import { createBoard } from '../board.ts';
import { createBook } from '../book.ts';
import { misfit } from '../fit.ts';
import { createSpotSource } from '../spots.ts';
import { minute, nodeOf, offMachines, serving } from './inventory.ts';
import { agent, agentOn, type Bound, at as now, podOf, waitingPod, withClaim } from './pods.ts';
import { poolOf, settingsOf } from './policies.ts';
import { createRandom, type Random } from './random.ts';
import { createDisks, storageClasses } from './storage.ts';
import { familyNames, type Template, templateOf, zone } from './templates.ts';

/** Families of waiting pods, and those of running clusters at low use. */
export const families = [
  ...familyNames,
  'headroom',
  ...['plain', 'host-anti-affinity', 'host-spread', 'zone-spread', 'zone-affinity', 'volumes', 'mixed'].map(
    (name) => `down-${name}`,
  ),
];

export interface Instance {
  readonly family: string;
  readonly seed: number;
  readonly snapshot: Snapshot;
  readonly now: number;
}

export interface Size {
  readonly maxPods?: number;
  readonly maxMachines?: number;
}

/** Small numbers as often as large ones. */
const sizeUpTo = (most: number, random: Random): number =>
  Math.max(1, Math.min(most, Math.round(Math.exp(random.next() * Math.log(most + 0.5)))));

/** An instance that is the same for the same family, seed and size. */
export function generate(
  family: string,
  seed: number,
  { maxPods = 5000, maxMachines = 6000 }: Size = {},
): Instance {
  const random = createRandom(seed * 1009 + families.indexOf(family));
  const isDown = family.startsWith('down-');
  const sort = isDown ? family.slice('down-'.length) : family;
  const waiting = isDown ? (random.chance(0.2) ? random.int(1, 3) : 0) : sizeUpTo(maxPods, random);
  // As in Karpenter's benchmark, there is always more than enough to choose from.
  const least = sort === 'karpenter' ? Math.min(maxMachines, waiting) : 1;
  const off = isDown ? random.int(0, 4) : Math.max(least, sizeUpTo(maxMachines, random));
  const on = isDown
    ? 1 + sizeUpTo(Math.min(150, maxMachines), random)
    : random.chance(0.6)
      ? sizeUpTo(Math.min(300, off), random)
      : 0;
  const templates = templatesOf(sort, random, waiting + on);
  const pools = ['workers', 'spare', 'other'].slice(0, random.pick([1, 1, 2, 3]));
  const kinds = sort === 'karpenter' ? 400 : random.pick([1, 3, 20, 0]);
  const inventory = { family: sort, now, pools, kinds };
  const there = offMachines(inventory, random, on, 'on').map((machine) => serving(machine, now));
  const limited = !isDown && random.chance(0.4);
  const given = { family, limited, machines: on + off };
  const disks = createDisks();
  const daemonSets = random.chance(0.3) ? [agent] : [];
  const empty: Snapshot = {
    machines: [...there, ...offMachines(inventory, random, off)],
    pools: pools.map((name) => poolOf(name, random, given)),
    settings: settingsOf(random, limited, on + off),
    cluster: {
      nodes: there.map(nodeOf),
      pods: [],
      daemonSets,
      namespaces: [{ name: 'default', labels: {} }],
      volumes: disks.volumes,
      claims: disks.claims,
      storageClasses,
      budgets: [],
    },
  };
  const perNode = isDown ? random.pick([1, 2, 4]) : random.int(0, 8);
  const agents = daemonSets.length > 0 ? there.map(({ spec }) => agentOn(spec.name)) : [];
  const candidates = Array.from({ length: Math.min(3000, on * perNode) }, (_, index) =>
    podOf(random.pick(templates), `r${index}`, { unschedulable: undefined }),
  );
  const running = bound({ ...empty, cluster: { ...empty.cluster, pods: agents } }, candidates, random);
  const zoneOf = new Map(empty.cluster.nodes.map(({ name, labels }) => [name, labels[zone]]));
  const withDisks = running.map(({ pod, template }) =>
    template.volume === 'bound'
      ? withClaim(pod, disks.claimFor('bound', random, zoneOf.get(pod.node ?? '')))
      : pod,
  );
  const asking = Array.from({ length: waiting }, (_, index) =>
    waitingPod(random.pick(templates), index, random, disks),
  );
  const pods = [...agents, ...withDisks, ...asking];
  const changed = sort === 'mixed' ? disturbed(empty, random) : empty;
  return { family, seed, now, snapshot: { ...changed, cluster: { ...changed.cluster, pods } } };
}

function templatesOf(family: string, random: Random, pods: number): Template[] {
  const many = family === 'karpenter' ? pods : random.pick([1, 3, 10, Math.ceil(Math.sqrt(pods)), pods]);
  const count = Math.max(1, Math.min(many, pods));
  const apps = Math.min(count, random.pick([1, 3, 10, 50]));
  const made = Array.from({ length: count }, (_, index) => templateOf(family, random, index, apps));
  // Where every pod is different, so are their sizes.
  return count === pods && family !== 'karpenter'
    ? made.map((one) => ({
        ...one,
        requests: { ...one.requests, cpu: (one.requests.cpu ?? 0) + random.int(0, 99) },
      }))
    : made;
}

/** The candidates that find a place when each asks a few nodes, in turn, as a scheduler would let them. */
function bound(snapshot: Snapshot, candidates: readonly Bound[], random: Random): Bound[] {
  const pods = [...snapshot.cluster.pods, ...candidates.map(({ pod }) => pod)];
  const board = createBoard(createBook({ ...snapshot, cluster: { ...snapshot.cluster, pods } }));
  const source = createSpotSource(snapshot, now);
  const spots = snapshot.cluster.nodes.map((node) => board.draft(source.ofNode(node)));
  for (const spot of spots) board.add(spot);
  for (const pod of snapshot.cluster.pods) {
    const spot = board.spots.get(pod.node ?? '');
    if (spot) board.put(board.book.shapeOf(pod), spot, 1);
  }
  return candidates.flatMap(({ pod, template }) => {
    const shape = board.book.shapeOf(pod);
    const tried = Array.from({ length: 6 }, () => random.pick(spots));
    const spot = tried.find((one) => misfit(board, shape, one) === undefined);
    if (!spot) return [];
    board.put(shape, spot, 1);
    return [{ pod: { ...pod, node: spot.facts.name }, template }];
  });
}

/** Machines that are on their way, and nodes that are cordoned, not Ready or being drained. */
function disturbed(snapshot: Snapshot, random: Random): Snapshot {
  const nodes: Node[] = [];
  const states = new Map<string, Partial<Machine['status']>>();
  for (const node of snapshot.cluster.nodes) {
    const what = random.int(0, 19);
    if (what === 1)
      states.set(node.name, { state: 'draining', operation: 'op', drain: { podsLeft: 1, podsTotal: 2 } });
    nodes.push({ ...node, ready: what !== 0, unschedulable: what === 1 || what === 2 });
  }
  const coming = { state: 'joining', powerState: 'on', operation: 'op', stateSince: now - minute } as const;
  return {
    ...snapshot,
    machines: snapshot.machines.map((machine): Machine => {
      const { name } = machine.spec;
      const isComing = machine.status.state === 'off' && random.chance(0.05);
      const status = isComing ? coming : states.get(name);
      return status ? { ...machine, status: { ...machine.status, ...status } } : machine;
    }),
    cluster: { ...snapshot.cluster, nodes },
  };
}
