import type { Taint } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';

/** An offer of a remote cluster, while it is valid. Prices are per hour. */
export interface Offer {
  /** `provider.name`: unique among all offers. */
  readonly id: string;
  /** The cluster id of the provider. */
  readonly provider: string;
  /** How the provider judges what is asked for: its ResourceSlice class. */
  readonly class: string;
  readonly region?: string | undefined;
  /** The total that it provides to us, including what is already in use. */
  readonly resources: Resources;
  readonly price: Price;
  /** On the nodes that come of it. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly Taint[] | undefined;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
  /** Where the provider answers: peering, and its listing. */
  readonly endpoint: string;
  /** How long its answer took when it was last asked. */
  readonly latencyMs?: number | undefined;
}

/** Hourly prices: per slice, and per resource. */
export interface Price {
  readonly slice?: number | undefined;
  readonly cpu?: number | undefined;
  readonly memoryGiB?: number | undefined;
  readonly gpu?: number | undefined;
}

const core = 1000;
const GiB = 2 ** 30;

/** The hourly price of a slice of this size. */
export function hourlyPrice({ slice = 0, cpu = 0, memoryGiB = 0, gpu = 0 }: Price, size: Resources): number {
  return (
    slice +
    (cpu * (size.cpu ?? 0)) / core +
    (memoryGiB * (size.memory ?? 0)) / GiB +
    gpu * (size['nvidia.com/gpu'] ?? 0)
  );
}

/** What an hour of a core costs, with what comes along, when all that is offered is taken at once. */
export function corePrice({ price, resources }: Pick<Offer, 'price' | 'resources'>): number {
  const cores = (resources.cpu ?? 0) / core;
  return cores > 0 ? hourlyPrice(price, resources) / cores : Number.POSITIVE_INFINITY;
}
