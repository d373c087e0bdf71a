import type { PoolSpec, Window } from '../settings.ts';
import { sinceLast } from './cron.ts';

/** True from a match of the cron line until its duration is over. */
export function isOpen({ cron, forMs, timeZone }: Window, now: number): boolean {
  const since = sinceLast(cron, now, timeZone);
  return since !== undefined && since < forMs;
}

export interface Minimum {
  readonly nodes: number;
  readonly why: string;
  /** So many that are on stay on; none is powered on for it. */
  readonly keep?: { readonly nodes: number; readonly why: string } | undefined;
}

/** How many of a pool are to be on now: its minimum, or what an open window asks for, a boot time ahead of it. */
export function minimumOf(pool: PoolSpec, now: number, bootMs: number): Minimum {
  let best: Minimum = {
    nodes: pool.limits.minNodes,
    why: `pool ${pool.name} keeps at least ${pool.limits.minNodes} on`,
  };
  for (const window of pool.schedule) {
    if (window.minNodes <= best.nodes) continue;
    const open = isOpen(window, now);
    if (!open && !isOpen(window, now + bootMs)) continue;
    best = {
      nodes: window.minNodes,
      why: open
        ? `the schedule ${window.cron} of pool ${pool.name} keeps ${window.minNodes} on`
        : `the schedule ${window.cron} of pool ${pool.name} wants ${window.minNodes} on soon`,
    };
  }
  return best;
}
