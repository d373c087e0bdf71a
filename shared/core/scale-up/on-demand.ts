import { toDescribed } from '../cluster/resources.ts';
import type { Group } from '../decide/demand.ts';
import { type Machine, newStatus } from '../machine/machine.ts';
import type { Offer } from '../remote/offer.ts';
import type { PoolSpec, Provider, Size } from '../settings.ts';
import { usualPods } from '../simulate/machine-node.ts';
import { mark, type Place, put, rollback, type World } from '../simulate/simulated-cluster.ts';
import { enter, type Shelf } from './machine-groups.ts';
import type { Maker } from './maker.ts';
import type { Fill } from './try-machine.ts';

export const gpu = 'nvidia.com/gpu';
const core = 1000;
const memoryStep = 128 * 2 ** 20;

/** A shelf for every pool that makes its own machines, with one of the largest size on it. */
export function madeShelves(pools: readonly PoolSpec[], taken: ReadonlySet<string>, now: number): Shelf[] {
  const used = new Set(taken);
  return pools.flatMap((pool): Shelf[] => {
    const { provider } = pool.template;
    if (!provider || provider.offers) return [];
    const another = (): Machine =>
      machineOf(pool, provider, freeName(provider.namePrefix, used), largest(provider), now);
    const ofSize: Maker['ofSize'] = ({ spec }, size) => machineOf(pool, provider, spec.name, size, now);
    return [shelfOf(pool, another(), { least: provider.minSize, another, ofSize })];
  });
}

/** With one machine on it. */
export function shelfOf(pool: PoolSpec, example: Machine, make: Maker): Shelf {
  const shelf: Shelf = { pool, example, boxes: [], make };
  shelf.boxes.push({ shelf, members: [example], next: 0 });
  return shelf;
}

function freeName(prefix: string, used: Set<string>): string {
  let number = 1;
  while (used.has(`${prefix}-${number}`)) number += 1;
  const name = `${prefix}-${number}`;
  used.add(name);
  return name;
}

const largest = ({ maxSize, memoryOverhead }: Provider): Size => ({
  ...maxSize,
  memory: Math.max(0, maxSize.memory - memoryOverhead),
});

function machineOf(pool: PoolSpec, provider: Provider, name: string, size: Size, now: number): Machine {
  const share = size.cpu / (provider.maxSize.cpu || 1);
  const { watts, pricing } = provider;
  const scaled = (value: number | undefined): number | undefined => value && value * share;
  return {
    spec: {
      name,
      pool: pool.name,
      powerInterface: provider.name,
      mgmtAddress: provider.mgmtAddress,
      bmcCredentials: provider.bmcCredentials,
      options: provider.options,
      memoryOverhead: provider.memoryOverhead,
      resources: { cpu: size.cpu, memory: size.memory, ...(size.gpu > 0 && { [gpu]: size.gpu }) },
      watts: watts && { idle: watts.idle * share, max: watts.max * share },
      pricing: pricing && { hourlyRate: scaled(pricing.hourlyRate), podRate: pricing.podRate },
      made: true,
    },
    status: { ...newStatus(now), powerState: 'off' },
    metrics: {},
  };
}

/** As large as what it is to hold, and no larger: whole cores, memory in steps. */
export function fitted(
  world: World,
  make: Maker,
  machine: Machine,
  { takes }: Pick<Fill, 'takes'>,
  groups: readonly Group[],
): Machine {
  const before = mark(world);
  const place = enter(world, make, machine);
  for (const [index, pods] of takes) {
    const group = groups[index];
    if (group) put(world, group.kind, place, pods);
  }
  const size = sizeAt(world, place, make, machine);
  rollback(world, before);
  return make.ofSize(machine, size);
}

/** What the pods at a place need of the machine there. */
export function sizeAt(world: World, place: Place, { least, lending }: Maker, { spec }: Machine): Size {
  const unused = (name: string): number => {
    const column = world.columns.get(name);
    return column === undefined
      ? (spec.resources[name] ?? 0)
      : (world.free[place.index * world.width + column] ?? 0);
  };
  const wanted = (name: string, atLeast: number, step: number): number => {
    const most = spec.resources[name] ?? 0;
    const needed = Math.ceil((most - Math.max(0, unused(name))) / step) * step;
    return Math.min(most, Math.max(atLeast, needed));
  };
  const cpu = wanted('cpu', least.cpu, core);
  const memory = wanted('memory', least.memory, memoryStep);
  const places = lending && Math.max(least.pods ?? 0, placesIn(lending.offer, cpu, memory));
  return {
    cpu,
    memory,
    gpu: wanted(gpu, least.gpu, 1),
    ...(places !== undefined && { pods: wanted('pods', places, 1) }),
  };
}

/** A slice has its share of the places for pods as well: so that later ones find some. */
export function placesIn({ resources }: Offer, cpu: number, memory: number): number {
  if (resources.pods === undefined) return usualPods;
  const share = Math.min(cpu / (resources.cpu || 1), memory / (resources.memory || 1));
  return Math.floor(resources.pods * share);
}

/** The description as people would write it, for the store. */
export function describeMade({ spec }: Machine): Readonly<Record<string, unknown>> {
  const {
    name,
    pool,
    powerInterface,
    mgmtAddress,
    bmcCredentials,
    options,
    resources,
    watts,
    pricing,
    memoryOverhead,
    labels,
    taints,
    offer,
    providerID,
  } = spec;
  return {
    name,
    pool,
    powerInterface,
    ...(mgmtAddress !== undefined && { mgmtAddress }),
    ...(bmcCredentials !== undefined && { bmcCredentials }),
    ...(options && { [powerInterface]: options }),
    resources: toDescribed(resources),
    ...(memoryOverhead && { memoryOverhead }),
    ...(watts && { watts }),
    ...(pricing && { pricing: JSON.parse(JSON.stringify(pricing)) }),
    ...(labels && { labels }),
    ...(taints && { taints }),
    ...(providerID !== undefined && { providerID }),
    ...(offer !== undefined && { offer }),
    made: true,
  };
}
