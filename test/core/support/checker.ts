import type { Node, Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';

/**
 * A judge of decisions that shares no code with them: slow, simple, and knowing only what the generated snapshots
 * contain (requests, node selectors, pod slots).
 */
export interface Spot {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly has: Readonly<Record<string, number>>;
}

export const spotOfNode = ({ name, labels, allocatable }: Node): Spot => ({ name, labels, has: allocatable });

export const spotOfMachine = ({ spec }: Machine): Spot => ({
  name: spec.name,
  labels: { 'kubernetes.io/hostname': spec.name, 'bamel.dev/pool': spec.pool, ...spec.labels },
  has: { pods: 110, ...spec.resources },
});

export const podsThere = ({ cluster }: Snapshot, name: string): Pod[] =>
  cluster.pods.filter((pod) => pod.node === name && !pod.finished);

export function holdsAll(spot: Spot, pods: readonly Pod[]): boolean {
  if (pods.length > (spot.has.pods ?? 0)) return false;
  for (const name of new Set(pods.flatMap((pod) => Object.keys(pod.requests)))) {
    const wanted = pods.reduce((sum, pod) => sum + (pod.requests[name] ?? 0), 0);
    if (wanted > 0 && wanted > (spot.has[name] ?? 0)) return false;
  }
  return true;
}

export const mayRunOn = (pod: Pod, { labels }: Spot): boolean =>
  Object.entries(pod.nodeSelector).every(([key, value]) => labels[key] === value);

/** Whether all pods find a place beside those that are there: every way is tried. */
export function canPlace(
  pods: readonly Pod[],
  spots: readonly { readonly spot: Spot; readonly pods: readonly Pod[] }[],
): boolean {
  const [first, ...others] = pods;
  if (!first) return true;
  return spots.some(({ spot, pods: there }, index) => {
    const together = [...there, first];
    if (!mayRunOn(first, spot) || !holdsAll(spot, together)) return false;
    return canPlace(
      others,
      spots.map((one, at) => (at === index ? { spot, pods: together } : one)),
    );
  });
}
