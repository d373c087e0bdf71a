import type { PoolSpec } from '../../shared/core/settings.ts';
import { PowerError } from '../../shared/ports/power.ts';
import type { Deps } from '../deps.ts';

/**
 * A machine without a record for this long is an orphan: the record is written before the machine is made,
 * but it may have been read earlier.
 */
const graceMs = 300_000;
/** Interval between searches for orphans. */
const everyMs = 60_000;

/** Returns machines made on demand that have no record. */
export function createOrphanCollector(
  deps: Deps,
): (pools: readonly PoolSpec[], signal: AbortSignal) => Promise<void> {
  const unknownSince = new Map<string, number>();
  let next = 0;
  return async (pools, signal) => {
    const making = pools.flatMap(({ name: pool, template: { provider } }) =>
      provider ? { pool, provider } : [],
    );
    if (!deps.releaseOrphans || making.length === 0 || deps.clock.monotonic() < next) return;
    next = deps.clock.monotonic() + everyMs;
    // Read now, not at the start of the tick: machines made meanwhile have their record already.
    const known = new Set((await deps.inventory.machines()).map(({ spec }) => spec.name));
    const asked = new Set<string>();
    const isKnown = (machine: string): boolean => {
      if (known.has(machine)) return true;
      asked.add(machine);
      const since = unknownSince.get(machine) ?? deps.clock.monotonic();
      unknownSince.set(machine, since);
      return deps.clock.monotonic() - since < graceMs;
    };
    for (const { pool, provider } of making)
      try {
        const orphans = await deps.releaseOrphans(pool, provider, isKnown, signal);
        const report = (machines: readonly string[], what: string): void => {
          if (machines.length === 0) return;
          const text = `${machines.join(', ')}: no record describes it; ${what}`;
          deps.log.warn({ step: 'power', pool, machines, text }, 'orphaned machines found');
        };
        report(orphans?.released ?? [], 'returned');
        report(orphans?.running ?? [], 'it is running, so it is kept');
      } catch (error) {
        if (!(error instanceof PowerError)) throw error;
        deps.log.warn(
          { step: 'power', pool, text: `orphans cannot be listed: ${error.message}` },
          'provider is not available',
        );
      }
    for (const name of unknownSince.keys()) if (!asked.has(name)) unknownSince.delete(name);
  };
}
