import type { Machine } from '../../machine/machine.ts';
import { leftToOthers } from '../../scale-up/candidates.ts';
import type { PoolSpec } from '../../settings.ts';

/** One alert of a webhook, as much of it as matters here. */
export interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  /** The same over all episodes of an alert. */
  readonly fingerprint: string;
  /** New for every episode. Compared only: the sender's clock may be off. */
  readonly startsAt: string;
}

export const alertName = ({ labels }: Alert): string => labels.alertname ?? 'without a name';

/** What an alert asks for: one more machine of a pool, or nothing; and why. */
export interface Steering {
  readonly pool?: string | undefined;
  readonly why: string;
}

const only = (why: string): Steering => ({ why: `${why}: it only wakes` });

/** Labels that name a pool, the surest first. */
const poolLabels = ['bamel_pool', 'pool'] as const;

/**
 * Which pool an alert steers. Labels must ask for it (`bamel_scale: up`): an alert that somebody wrote for people must
 * not power anything on. None powers anything off.
 */
export function steeringOf(
  { labels }: Alert,
  pools: readonly Pick<PoolSpec, 'name' | 'managedBy'>[],
  machines: readonly Pick<Machine, 'spec' | 'status'>[],
): Steering {
  const { bamel_scale: scale, node } = labels;
  if (scale === undefined) return only('it has no label bamel_scale');
  if (scale === 'wake') return only('bamel_scale is wake');
  if (scale === 'down') return only('bamel_scale is down, and no alert powers anything off');
  if (scale !== 'up') return only(`bamel_scale is ${scale}, which is not up, down or wake`);
  const named = poolLabels.find((label) => labels[label] !== undefined);
  const own = machines.find(({ status }) => node !== undefined && status.kubernetesNode === node);
  const name = named ? labels[named] : own?.spec.pool;
  if (name === undefined)
    return only(
      node === undefined
        ? 'bamel_scale is up, but no label bamel_pool, pool or node says for which pool'
        : `bamel_scale is up, but node ${node} is no machine of ours`,
    );
  const pool = pools.find((one) => one.name === name);
  if (!pool) return only(`bamel_scale is up, but there is no pool ${name}`);
  if (pool.managedBy !== 'bamel') return only(leftToOthers(name));
  const because = named ? `${named} is ${name}` : `node ${node} is machine ${own?.spec.name} of it`;
  return { pool: name, why: `bamel_scale is up and ${because}` };
}
