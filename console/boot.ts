import type { MachineView } from '../shared/view/shapes.ts';

export interface Boot {
  readonly elapsedMs: number;
  /** Of the time it took before; absent when it never has. */
  readonly share?: number;
  readonly learnedMs?: number;
}

/** How far a machine that is on its way has come, compared with what it took before. */
export function bootOf(
  machine: Pick<MachineView, 'boot' | 'stateSince' | 'capacity'>,
  now: number,
): Boot | undefined {
  if (machine.capacity !== 'coming') return undefined;
  const elapsedMs = Math.max(0, now - (machine.boot.startedAt ?? machine.stateSince));
  const { learnedMs } = machine.boot;
  if (learnedMs === undefined) return { elapsedMs };
  // Not full before it is there.
  return { elapsedMs, learnedMs, share: Math.min(0.98, elapsedMs / Math.max(1, learnedMs)) };
}
