import { survey } from '../../shared/core/decide/indexed-snapshot.ts';
import { count } from '../../shared/core/decide/snapshot.ts';
import { createRoom } from '../../shared/core/limits/room.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import { textOf } from '../../shared/core/reasons/reason.ts';
import { lentShelves } from '../../shared/core/remote/remote-slices.ts';
import { eligibleMachines } from '../../shared/core/scale-up/candidates.ts';
import type { Chooser } from '../../shared/core/scale-up/chooser.ts';
import { chooseWanted } from '../../shared/core/scale-up/extra-capacity.ts';
import { stock } from '../../shared/core/scale-up/machine-groups.ts';
import { describeMade, madeShelves } from '../../shared/core/scale-up/on-demand.ts';
import { createNeighbourhood, usualWatts } from '../../shared/core/scale-up/spread-counts.ts';
import type { PoolSpec, Size } from '../../shared/core/settings.ts';
import { createWorld } from '../../shared/core/simulate/simulated-cluster.ts';
import { type GroupSnapshot, provides, remoteGroup, sizeOf, snapshotOf } from './remote-group.ts';

interface Pick {
  readonly machine: string;
  readonly make?: Readonly<Record<string, unknown>> | undefined;
}

export interface Picks {
  readonly picks: readonly Pick[];
  /** Why there are fewer than asked for. */
  readonly why?: string | undefined;
}

/** The machines of a pool that our own policies prefer: as many as asked for, or as many as there are. */
export function chooseMachines(
  known: GroupSnapshot,
  pool: PoolSpec,
  wanted: number,
  now: number,
  /** Names that are promised, though nothing has them yet. */
  promised: Iterable<string> = [],
): Picks {
  const { machines, settings } = known;
  const lent = pool.template.provider?.offers && remoteGroup(known, pool, now);
  const size = lent && sizeOf(lent.example);
  const snapshot = snapshotOf({ ...known, pools: known.pools.map((other) => asOurs(other, pool, size)) });
  const situation = survey(snapshot, now);
  const world = createWorld(snapshot, now);
  const eligible = eligibleMachines(situation);
  const policiesOf: Chooser['policiesOf'] = (of) => of?.policies ?? settings.policies;
  const { neighbours, count: tell } = createNeighbourhood(situation.machines);
  const ours = situation.pools.filter(({ name }) => name === pool.name);
  const names = new Set([...machines.map(({ spec }) => spec.name), ...promised]);
  const slices = size
    ? lentShelves(situation, ours, names).shelves.filter(({ example }) => provides(example, size))
    : [];
  const chooser: Chooser = {
    world,
    shelves: [
      ...stock(world, eligible.machines, situation.poolOf, policiesOf),
      ...madeShelves(ours, names, now),
      ...slices,
    ],
    room: createRoom(situation),
    policiesOf,
    surroundings: { neighbours, usualWatts: usualWatts(eligible.machines) },
    count: tell,
  };
  const there = count(situation.members.get(pool.name) ?? [], 'coming', 'serving');
  const minimums = new Map([
    [pool.name, { nodes: there + wanted, why: { code: 'asked-for-by-cluster-autoscaler' } as const }],
  ]);
  const { chosen } = chooseWanted(chooser, situation, { chosen: [], cancelled: [] }, minimums, [], false);
  const picks = chosen.map(({ chosen: { machine, box } }) => ({
    machine: machine.spec.name,
    ...(box.shelf.make && { make: describeMade(machine) }),
  }));
  return {
    picks,
    ...(picks.length < wanted && {
      why: lent
        ? 'no offer provides that much more, or a limit is reached'
        : whyFewer(situation.members.get(pool.name), eligible),
    }),
  };
}

/**
 * Chooses from this pool only. Machines made on demand have the size of the template, which the caller counts
 * on.
 */
function asOurs(pool: PoolSpec, { name }: PoolSpec, size: Size | undefined): PoolSpec {
  if (pool.name !== name) return { ...pool, managedBy: 'clusterAutoscaler' };
  const { provider } = pool.template;
  const maxSize = size ?? provider?.maxSize;
  return {
    ...pool,
    managedBy: 'bamel',
    scaleUp: { ...pool.scaleUp, batchSize: 0 },
    headroom: {},
    template: {
      ...pool.template,
      ...(provider && maxSize && { provider: { ...provider, minSize: maxSize, maxSize } }),
    },
  };
}

function whyFewer(
  members: readonly Machine[] = [],
  { rejected }: ReturnType<typeof eligibleMachines>,
): string {
  const reasons = members.flatMap(({ spec }) => {
    const why = rejected.get(spec.name);
    return why === undefined ? [] : [`${spec.name}: ${textOf(why)}`];
  });
  if (reasons.length === 0) return 'no machine of it is off and free, or a limit is reached';
  return reasons.slice(0, 5).join('; ');
}
