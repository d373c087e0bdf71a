import type { Machine } from '../../machine/machine.ts';
import { because, type Explained, type Reason } from '../../reasons/reason.ts';
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
export interface Steering extends Explained {
  readonly pool?: string | undefined;
}

const only = (reason: Reason): Steering => because({ code: 'only-wakes', because: reason });

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
  if (scale === undefined) return only({ code: 'no-scale-label' });
  if (scale === 'wake') return only({ code: 'scale-label', scale });
  if (scale === 'down') return only({ code: 'scale-label', scale });
  if (scale !== 'up') return only({ code: 'scale-label', scale });
  const named = poolLabels.find((label) => labels[label] !== undefined);
  const own = machines.find(({ status }) => node !== undefined && status.kubernetesNode === node);
  const name = named ? labels[named] : own?.spec.pool;
  if (name === undefined)
    return only(node === undefined ? { code: 'no-pool-label' } : { code: 'node-of-no-machine', node });
  const pool = pools.find((one) => one.name === name);
  if (!pool) return only({ code: 'no-such-pool', pool: name });
  if (pool.managedBy !== 'bamel') return only(leftToOthers(name));
  return {
    pool: name,
    ...because(
      named
        ? { code: 'steered-by-label', label: named, pool: name }
        : { code: 'steered-by-node', node, machine: own?.spec.name },
    ),
  };
}
