import type { Node } from '../../shared/core/cluster/cluster.ts';
import { survey } from '../../shared/core/decide/indexed-snapshot.ts';
import type { Snapshot } from '../../shared/core/decide/snapshot.ts';
import type { ProviderState } from '../../shared/core/limits/provider-state.ts';
import { createRoom } from '../../shared/core/limits/room.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import type { Offer } from '../../shared/core/remote/offer.ts';
import { lentShelves } from '../../shared/core/remote/remote-slices.ts';
import type { Shelf } from '../../shared/core/scale-up/machine-groups.ts';
import { placesIn } from '../../shared/core/scale-up/on-demand.ts';
import type { PoolSpec, Settings, Size } from '../../shared/core/settings.ts';
import { byText } from '../../shared/core/text.ts';

/** The input of a choice. */
export interface GroupSnapshot {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly offers: readonly Offer[];
  readonly providers?: readonly ProviderState[] | undefined;
}

/** What slices are to the Cluster Autoscaler: nodes of one size, of which so many more can be had. */
export interface LentGroup {
  readonly example: Machine;
  readonly more: number;
}

/** As many as the Cluster Autoscaler plans at once. */
export const mostAtOnce = 1_000;

/** The snapshot for a decision about these machines: nodes as last observed. */
export const snapshotOf = ({ machines, pools, settings, offers, providers }: GroupSnapshot): Snapshot => ({
  machines,
  pools,
  // How fast machines are powered on is for power-action to heed: here it would be taken for a lack of machines.
  settings: { ...settings, rateLimits: { perMinute: 0, perRack: 0, perCircuit: 0 } },
  offers,
  providers,
  cluster: { pods: [], nodes: machines.flatMap(nodeOf) },
});

/** Only for slices: the readiness of their nodes shows the state of their provider. */
function nodeOf({ spec, status }: Machine): Node[] {
  if (spec.offer === undefined || status.kubernetesNode === undefined) return [];
  return [
    {
      name: status.kubernetesNode,
      ready: status.nodeReady === true,
      unschedulable: false,
      labels: spec.labels ?? {},
      annotations: {},
      taints: spec.taints ?? [],
      allocatable: spec.resources,
    },
  ];
}

/**
 * The node that one more slice would be: of the largest size there is, and of those the cheapest. All are made of that
 * size, for that is what was counted on; offers that lend less are left out.
 */
export function remoteGroup(known: GroupSnapshot, pool: PoolSpec, now: number): LentGroup | undefined {
  const situation = survey(snapshotOf(known), now);
  const names = new Set(known.machines.map(({ spec }) => spec.name));
  const slices = lentShelves(situation, [pool], names)
    .shelves.map(wholeSlice)
    .sort(
      (a, b) =>
        (b.spec.resources.cpu ?? 0) - (a.spec.resources.cpu ?? 0) ||
        (b.spec.resources.memory ?? 0) - (a.spec.resources.memory ?? 0) ||
        priceOf(a) - priceOf(b) ||
        byText(a.spec.name, b.spec.name),
    );
  const [best] = slices;
  if (!best) return undefined;
  const room = createRoom(situation);
  let more = 0;
  for (const { spec } of slices.filter((one) => provides(one, sizeOf(best))))
    while (more < mostAtOnce && room.refusal(spec) === undefined) {
      room.take(spec);
      more += 1;
    }
  return { example: best, more };
}

/** The largest that an offer gives, with its share of the places for pods. */
function wholeSlice({ example, make }: Shelf): Machine {
  if (!make?.lending) return example;
  const size = sizeOf(example);
  return make.ofSize(example, { ...size, pods: placesIn(make.lending.offer, size.cpu, size.memory) });
}

const priceOf = ({ spec }: Machine): number => spec.pricing?.hourlyRate ?? 0;

/** Whether slices of that size can be had of it. */
export const provides = ({ spec }: Machine, { cpu, memory, gpu }: Size): boolean =>
  (spec.resources.cpu ?? 0) >= cpu &&
  (spec.resources.memory ?? 0) >= memory &&
  (spec.resources['nvidia.com/gpu'] ?? 0) >= gpu;

export const sizeOf = ({ spec: { resources } }: Machine): Size => ({
  cpu: resources.cpu ?? 0,
  memory: resources.memory ?? 0,
  gpu: resources['nvidia.com/gpu'] ?? 0,
});
