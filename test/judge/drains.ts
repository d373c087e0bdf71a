import type { Pod } from '../../shared/core/cluster/cluster.ts';
import { podName } from '../../shared/core/decide/snapshot.ts';
import type { Board, Spot } from './board.ts';
import type { Shape } from './book.ts';
import type { Case } from './case.ts';
import type { Finding } from './finding.ts';
import { hasRoom, misfit } from './fit.ts';
import { createRandom } from './generate/random.ts';

interface Evicted {
  readonly pod: Pod;
  readonly name: string;
  readonly shape: Shape;
}

const cpuOf = ({ pod }: Evicted): number => pod.requests.cpu ?? 0;
const byName = (a: Evicted, b: Evicted): number => (a.name < b.name ? -1 : 1);

/** The orders in which evicted pods may come to the scheduler. */
const orders: Readonly<Record<string, (pods: readonly Evicted[]) => Evicted[]>> = {
  'by name': (pods) => pods.toSorted(byName),
  'by name, reversed': (pods) => pods.toSorted(byName).reverse(),
  'largest first': (pods) => pods.toSorted((a, b) => cpuOf(b) - cpuOf(a) || byName(a, b)),
  'smallest first': (pods) => pods.toSorted((a, b) => cpuOf(a) - cpuOf(b) || byName(a, b)),
  'shuffled once': (pods) => createRandom(1).shuffled(pods.toSorted(byName)),
  'shuffled twice': (pods) => createRandom(2).shuffled(pods.toSorted(byName)),
};

/** Pods of drained machines find a place on nodes that run, in whatever order the scheduler sees them. */
export function judgeDrains({ snapshot, decision, board, book }: Case): Finding[] {
  const drained = decision.intents.filter(({ kind }) => kind === 'drain').map(({ machine }) => machine);
  if (drained.length === 0) return [];
  const leaving = new Set(drained);
  const closed = [...board.spots.values()].filter(({ facts }) => leaving.has(facts.machine?.spec.name ?? ''));
  const closedNames = new Set(closed.map(({ facts }) => facts.name));
  const evicted: Evicted[] = [];
  for (const pod of snapshot.cluster.pods) {
    if (pod.finished || pod.node === undefined || !closedNames.has(pod.node) || staysWithNode(pod)) continue;
    const shape = book.shapeOf(pod);
    const from = board.spots.get(pod.node);
    if (from) board.put(shape, from, -1);
    const isOwed = !pod.terminating && (pod.priority ?? 0) >= snapshot.settings.priorityCutoff;
    if (isOwed) evicted.push({ pod, name: podName(pod), shape });
  }
  for (const spot of closed) spot.shut = true;
  const targets = [...board.spots.values()].filter(({ shut, facts }) => !shut && !facts.future);
  const homeless = new Map<string, string>();
  for (const [order, sort] of Object.entries(orders)) {
    const moved: { readonly shape: Shape; readonly spot: Spot }[] = [];
    for (const { name, shape } of sort(evicted)) {
      const spot = scheduled(board, shape, targets);
      if (spot) {
        board.put(shape, spot, 1);
        moved.push({ shape, spot });
      } else homeless.set(name, homeless.get(name) ?? order);
    }
    for (const { shape, spot } of moved) board.put(shape, spot, -1);
  }
  return [...homeless].map(([pod, order]) => ({
    code: 'drain-order',
    pod,
    text: `${pod} finds no place when the pods of ${drained.slice(0, 5).join(', ')} come ${order}`,
  }));
}

const staysWithNode = (pod: Pod): boolean =>
  pod.belongsToNode || pod.annotations?.['cluster-autoscaler.kubernetes.io/daemonset-pod'] === 'true';

/** Where kube-scheduler puts it: the node with the largest share of cpu and memory left, of those that may have it. */
function scheduled(board: Board, shape: Shape, targets: readonly Spot[]): Spot | undefined {
  const { cpu = 0, memory = 0 } = shape.example.requests;
  const cpuColumn = board.book.columns.get('cpu') ?? 0;
  const memoryColumn = board.book.columns.get('memory') ?? 0;
  let best: Spot | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const spot of targets) {
    const { free, facts } = spot;
    if (!hasRoom(shape, free)) continue;
    const left =
      ((free[cpuColumn] as number) - cpu) / (facts.allocatable.cpu ?? 1) +
      ((free[memoryColumn] as number) - memory) / (facts.allocatable.memory ?? 1);
    if (left <= most || misfit(board, shape, spot)) continue;
    best = spot;
    most = left;
  }
  return best;
}
