import type { Node, Pod } from '../../../shared/core/cluster/cluster.ts';
import { decide } from '../../../shared/core/decide/decide.ts';
import type { OfferVerdict } from '../../../shared/core/decide/decision.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine, MachineSpec, MachineStatus } from '../../../shared/core/machine/machine.ts';
import { hourlyPrice, type Offer } from '../../../shared/core/remote/offer.ts';
import type { OfferRules, PoolSpec, Size } from '../../../shared/core/settings.ts';
import { Gi, minute, node, now, pod, pool, running, serving } from './builders.ts';

export const hour = 60 * minute;

/** Eight cores and 32 Gi for 0.1 per core and hour, valid for another hour. */
export const offer = (id: string, parts: Partial<Offer> = {}): Offer => ({
  id,
  provider: id.split('.')[0] ?? id,
  class: 'default',
  resources: { cpu: 8000, memory: 32 * Gi },
  price: { cpu: 0.1 },
  validUntil: now + hour,
  endpoint: `https://${id}.example/discovery`,
  ...parts,
});

type Limits = Partial<PoolSpec['limits']>;

interface RemoteParts extends Omit<Partial<PoolSpec>, 'limits'> {
  readonly offers?: OfferRules;
  readonly maxSize?: Partial<Size>;
  readonly minSize?: Partial<Size>;
  readonly limits?: Limits;
  readonly namePrefix?: string;
}

/** A pool whose machines are slices of remote clusters. */
export const remote = ({
  offers = {},
  namePrefix = 'spill',
  maxSize,
  minSize,
  limits,
  ...parts
}: RemoteParts = {}): PoolSpec => {
  const { limits: usual, ...rest } = pool({ name: 'remote', ...parts });
  return {
    ...rest,
    limits: { ...usual, ...limits },
    template: {
      provider: {
        name: 'liqo',
        namePrefix,
        minSize: { cpu: 1000, memory: Gi, gpu: 0, ...minSize },
        maxSize: { cpu: 64_000, memory: 256 * Gi, gpu: 8, ...maxSize },
        memoryOverhead: 512 * 2 ** 20,
        offers,
      },
    },
  };
};

/** What Liqo's webhook adds to pods of namespaces that are offloaded. */
const offloaded: Pick<Pod, 'tolerations'> = {
  tolerations: [
    { key: 'virtual-node.liqo.io/not-allowed', operator: 'Equal', value: 'true', effect: 'NoExecute' },
  ],
};

export const roamers = (count: number, parts: Partial<Pod> = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, { ...offloaded, ...parts }));

export const roamersOn = (on: string, count: number, parts: Partial<Pod> = {}): Pod[] =>
  Array.from({ length: count }, (_, index) => running(`${on}-${index}`, on, { ...offloaded, ...parts }));

interface SliceParts {
  readonly spec?: Partial<MachineSpec>;
  readonly status?: Partial<MachineStatus>;
  readonly metrics?: Machine['metrics'];
}

/** A slice of an offer that serves, as large as is said, at the price of the offer. */
export const slice = (name: string, of: Offer, cores: number, parts: SliceParts = {}): Machine => {
  const resources = { cpu: cores * 1000, memory: cores * 2 * Gi, pods: 110 };
  return serving(name, {
    ...parts,
    spec: {
      pool: 'remote',
      powerInterface: 'liqo',
      offer: of.id,
      made: true,
      resources,
      pricing: { hourlyRate: hourlyPrice(of.price, resources) },
      labels: { 'liqo.io/type': 'virtual-node', 'liqo.io/remote-cluster-id': of.provider },
      taints: [{ key: 'virtual-node.liqo.io/not-allowed', value: 'true', effect: 'NoExecute' }],
      ...parts.spec,
    },
  });
};

/** The node that a slice is. */
export const nodeOf = ({ spec }: Machine, parts: Partial<Node> = {}): Node =>
  node(spec.name, {
    labels: { ...spec.labels, 'kubernetes.io/hostname': spec.name },
    taints: [...(spec.taints ?? [])],
    allocatable: { ...spec.resources },
    ...parts,
  });

/** By offer: the verdict with the code and the facts of its reason. */
export const verdicts = (given: Snapshot, at = now): Record<string, object> =>
  Object.fromEntries(
    (decide(given, at).record.offers ?? []).map(({ offer: id, verdict, reason }: OfferVerdict) => [
      id,
      { verdict, ...reason },
    ]),
  );

/** What is ordered of every offer: cores, in the order in which it is ordered. */
export const ordered = (given: Snapshot, at = now): string[] =>
  decide(given, at).intents.flatMap(({ kind, machine, make }) => {
    const { offer: of, resources } = (make ?? {}) as { offer?: string; resources?: { cpu: number } };
    return kind === 'power-on' || kind === 'resize'
      ? [of ? `${kind} ${resources?.cpu} of ${of}` : `${kind} ${machine}`]
      : [`${kind} ${machine}`];
  });
