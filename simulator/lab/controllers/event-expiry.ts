import { events } from '../api/resource-types.ts';
import type { Context } from './context.ts';

/** Forgets Events after their time, so that a long run does not fill the memory with them. */
export function eventExpiry({ store, timers, settings }: Context): void {
  let seenBefore = new Set<string>();
  const sweep = () => {
    const seen = new Set<string>();
    for (const { metadata } of [...store.list(events)])
      if (seenBefore.has(metadata.uid)) store.delete(events, metadata.namespace, metadata.name);
      else seen.add(metadata.uid);
    seenBefore = seen;
    timers.after(settings.eventTtlMs, sweep);
  };
  timers.after(settings.eventTtlMs, sweep);
}
