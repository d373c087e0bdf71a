import type { Reason } from '../reasons/reason.ts';
import type { PoolSpec, Window } from '../settings.ts';
import { sinceLast } from './cron.ts';

/** True from a match of the cron line until its duration is over. */
export function isOpen({ cron, forMs, timeZone }: Window, now: number): boolean {
  const since = sinceLast(cron, now, timeZone);
  return since !== undefined && since < forMs;
}

export interface Minimum {
  readonly nodes: number;
  readonly why: Reason;
  /** So many that are on stay on; none is powered on for it. */
  readonly keep?: { readonly nodes: number; readonly why: Reason } | undefined;
}

/** How many of a pool are to be on now: its minimum, or what an open window asks for, a boot time ahead of it. */
export function minimumOf(pool: PoolSpec, now: number, bootMs: number): Minimum {
  let best: Minimum = {
    nodes: pool.limits.minNodes,
    why: { code: 'pool-minimum', pool: pool.name, nodes: pool.limits.minNodes },
  };
  for (const window of pool.schedule) {
    if (window.minNodes <= best.nodes) continue;
    const open = isOpen(window, now);
    if (!open && !isOpen(window, now + bootMs)) continue;
    best = {
      nodes: window.minNodes,
      why: {
        code: open ? 'schedule-keeps' : 'schedule-begins',
        pool: pool.name,
        nodes: window.minNodes,
        cron: window.cron,
      },
    };
  }
  return best;
}
