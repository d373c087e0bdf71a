import type { Group } from '../demand.ts';
import { type Machine, newStatus } from '../machine.ts';
import type { Resources } from '../resources.ts';
import type { PoolSpec, Provider, Size } from '../settings.ts';
import { addMachine, mark, put, rollback, type World } from '../world/world.ts';
import type { Fill } from './fill.ts';
import type { Shelf } from './shelves.ts';

/** Makes descriptions of machines that do not exist yet. */
export interface Maker {
  readonly pool: PoolSpec;
  readonly provider: Provider;
  /** Of the largest size, under a name that nobody has. */
  another(): Machine;
}

const gpu = 'nvidia.com/gpu';
const core = 1000;
const memoryStep = 128 * 2 ** 20;

/** A shelf for every pool that makes its machines, with one of the largest size on it. */
export function madeShelves(pools: readonly PoolSpec[], taken: ReadonlySet<string>, now: number): Shelf[] {
  const used = new Set(taken);
  return pools.flatMap((pool): Shelf[] => {
    const { provider } = pool.template;
    if (!provider) return [];
    const another = (): Machine =>
      machineOf(pool, provider, freeName(provider.namePrefix, used), largest(provider), now);
    const example = another();
    const shelf: Shelf = { pool, example, boxes: [], make: { pool, provider, another } };
    shelf.boxes.push({ shelf, members: [example], next: 0 });
    return [shelf];
  });
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
  { pool, provider }: Maker,
  { spec, status }: Machine,
  { takes }: Fill,
  groups: readonly Group[],
): Machine {
  const before = mark(world);
  const place = addMachine(world, { spec, status, metrics: {} });
  for (const [index, pods] of takes) {
    const group = groups[index];
    if (group) put(world, group.kind, place, pods);
  }
  const unused = (name: string): number => {
    const column = world.columns.get(name);
    return column === undefined
      ? (spec.resources[name] ?? 0)
      : (world.free[place.index * world.width + column] ?? 0);
  };
  const wanted = (name: string, least: number, step: number): number => {
    const most = spec.resources[name] ?? 0;
    const needed = Math.ceil((most - Math.max(0, unused(name))) / step) * step;
    return Math.min(most, Math.max(least, needed));
  };
  const size: Size = {
    cpu: wanted('cpu', provider.minSize.cpu, core),
    memory: wanted('memory', provider.minSize.memory, memoryStep),
    gpu: wanted(gpu, provider.minSize.gpu, 1),
  };
  rollback(world, before);
  return machineOf(pool, provider, spec.name, size, status.stateSince);
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
  } = spec;
  return {
    name,
    pool,
    powerInterface,
    ...(mgmtAddress !== undefined && { mgmtAddress }),
    ...(bmcCredentials !== undefined && { bmcCredentials }),
    ...(options && { [powerInterface]: options }),
    resources: quantities(resources),
    ...(memoryOverhead && { memoryOverhead }),
    ...(watts && { watts }),
    ...(pricing && { pricing: JSON.parse(JSON.stringify(pricing)) }),
    made: true,
  };
}

const quantities = ({ cpu = 0, memory = 0, [gpu]: gpus }: Resources): object => ({
  cpu: cpu / core,
  memory,
  ...(gpus && { gpu: gpus }),
});
