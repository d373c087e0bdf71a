import type { Taint } from '../cluster/cluster.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import { type Machine, type MachineSpec, newStatus } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Shelf } from '../scale-up/machine-groups.ts';
import type { Maker } from '../scale-up/maker.ts';
import { gpu, shelfOf } from '../scale-up/on-demand.ts';
import type { PoolSpec, Provider, Size } from '../settings.ts';
import { usualPods } from '../simulate/machine-node.ts';
import type { World } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { hourlyPrice, type Offer } from './offer.ts';
import { providerLabel, troubles, whyNotTaken, withdrawals } from './slice-rules.ts';

/** Only pods of namespaces that are offloaded tolerate it. */
const notAllowed: Taint = {
  key: 'virtual-node.liqo.io/not-allowed',
  value: 'true',
  effect: 'NoExecute',
};

const longestName = 52;

/** An offer that a pool does not take now. */
export interface Refused {
  readonly offer: Offer;
  readonly pool: string;
  readonly why: Reason;
}

export interface Lent {
  readonly shelves: readonly Shelf[];
  readonly refused: readonly Refused[];
}

/** For every pool that takes offers: slices that may grow, then a shelf for every offer that it takes. */
export function lentShelves(
  situation: Situation,
  pools: readonly PoolSpec[],
  taken: ReadonlySet<string>,
  world?: World,
): Lent {
  const offers = (situation.offers ?? []).toSorted((a, b) => byText(a.id, b.id));
  const troubleOf = troubles(situation);
  const refused: Refused[] = [];
  const shelves: Shelf[] = [];
  const freshName = createNames(situation.now, taken);
  for (const pool of pools) {
    const { provider } = pool.template;
    if (!provider?.offers) continue;
    const usable = new Map<string, Offer>();
    for (const offer of offers) {
      const why = whyNotTaken(offer, provider.offers, situation.now) ?? troubleOf(offer);
      if (why) refused.push({ offer, pool: pool.name, why });
      else usable.set(offer.id, offer);
    }
    if (world) shelves.push(...growing(situation, world, pool, provider, usable));
    for (const offer of usable.values())
      shelves.push(sliceShelf(situation, pool, provider, offer, freshName));
  }
  return { shelves, refused };
}

/** Never one that there was before: the time of the decision makes them new. */
function createNames(now: number, taken: ReadonlySet<string>): (stem: string) => string {
  let number = 0;
  return (stem) => {
    for (;;) {
      const suffix = `-${now.toString(36)}${number.toString(36)}`;
      number += 1;
      const name = `${stem.slice(0, longestName - suffix.length).replace(/-+$/, '')}${suffix}`;
      if (!taken.has(name)) return name;
    }
  };
}

const shortName = (provider: string): string =>
  provider
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 16)
    .replace(/-+$/, '');

function sliceShelf(
  { now }: Situation,
  pool: PoolSpec,
  provider: Provider,
  offer: Offer,
  freshName: (stem: string) => string,
): Shelf {
  const most = largest(provider, offer);
  const stem = `${provider.namePrefix}-${shortName(offer.provider)}`;
  const another = (): Machine => ({
    spec: sliceOf(pool, provider, offer, freshName(stem), most),
    status: { ...newStatus(now), powerState: 'off' },
    metrics: {},
  });
  const ofSize: Maker['ofSize'] = (machine, size) => ({
    ...machine,
    spec: sliceOf(pool, provider, offer, machine.spec.name, size),
  });
  return shelfOf(pool, another(), {
    least: { ...provider.minSize, pods: 1 },
    another,
    ofSize,
    lending: { offer, most },
  });
}

/** As large as the pool and the offer allow. */
const largest = ({ maxSize }: Provider, { resources }: Offer): Size => ({
  cpu: Math.min(maxSize.cpu, resources.cpu ?? 0),
  memory: Math.min(maxSize.memory, resources.memory ?? 0),
  gpu: Math.min(maxSize.gpu, resources[gpu] ?? 0),
  pods: resources.pods ?? usualPods,
});

function sliceOf(pool: PoolSpec, provider: Provider, offer: Offer, name: string, size: Size): MachineSpec {
  const { cpu, memory, pods = usualPods } = size;
  const resources = { cpu, memory, pods, ...(size.gpu > 0 && { [gpu]: size.gpu }) };
  return {
    name,
    pool: pool.name,
    powerInterface: provider.name,
    mgmtAddress: offer.endpoint,
    bmcCredentials: provider.bmcCredentials,
    options: { ...provider.options, clusterID: offer.provider, class: offer.class },
    resources,
    pricing: { hourlyRate: hourlyPrice(offer.price, resources) },
    labels: {
      ...offer.labels,
      'liqo.io/type': 'virtual-node',
      [providerLabel]: offer.provider,
      ...(offer.region !== undefined && { 'topology.kubernetes.io/region': offer.region }),
    },
    taints: [notAllowed, ...(offer.taints ?? [])],
    providerID: `liqo://${offer.provider}/${name}`,
    offer: offer.id,
    made: true,
  };
}

/** Slices of the pool that serve, or will, and that may become larger. */
function growing(
  situation: Situation,
  world: World,
  pool: PoolSpec,
  provider: Provider,
  usable: ReadonlyMap<string, Offer>,
): Shelf[] {
  const withdrawn = withdrawals(situation);
  const placeOf = new Map(world.places.map((place) => [place.machine, place]));
  return (situation.members.get(pool.name) ?? []).flatMap((machine): Shelf[] => {
    const { spec } = machine;
    const offer = usable.get(spec.offer ?? '');
    const place = placeOf.get(machine);
    if (!offer || !place || world.closed[place.index] !== 0 || withdrawn.has(spec.name)) return [];
    if (!['serving', 'coming'].includes(capacityOf(machine)) || spec.powerState === 'off') return [];
    const most = largest(provider, offer);
    const { cpu = 0, memory = 0, pods = usualPods, [gpu]: gpus = 0 } = spec.resources;
    const least: Size = { cpu, memory, gpu: gpus, pods };
    const ofSize: Maker['ofSize'] = (_, size) => ({ ...machine, spec: grown(spec, offer, size) });
    return [
      shelfOf(pool, ofSize(machine, most), {
        least,
        ofSize,
        lending: { offer, most, grows: { machine, place } },
      }),
    ];
  });
}

/** Everything else about it stays as it was agreed. */
function grown(
  spec: MachineSpec,
  offer: Offer,
  { cpu, memory, pods = usualPods, gpu: gpus }: Size,
): MachineSpec {
  const resources = { ...spec.resources, cpu, memory, pods, ...(gpus > 0 && { [gpu]: gpus }) };
  return {
    ...spec,
    resources,
    pricing: { ...spec.pricing, hourlyRate: hourlyPrice(offer.price, resources) },
  };
}
