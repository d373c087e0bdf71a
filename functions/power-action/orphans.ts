import type { PoolSpec } from '../../shared/core/settings.ts';
import { PowerError } from '../../shared/ports/power.ts';
import type { Deps } from '../deps.ts';

/** Unknown for this long, and a machine is a stray: its record is written before it is made, but read earlier. */
const graceMs = 300_000;
/** How often providers are asked for strays. */
const everyMs = 60_000;

/** Machines made on demand that nobody keeps a record of any more are given back. */
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
    // Read now, not when the tick began: what is being made meanwhile has its record already.
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
          const story = `${machines.join(', ')}: nobody keeps a record of it; ${what}`;
          deps.log.warn({ step: 'power', pool, machines, story }, 'stray machines found');
        };
        report(orphans?.released ?? [], 'given back');
        report(orphans?.running ?? [], 'it runs, so it is left alone');
      } catch (error) {
        if (!(error instanceof PowerError)) throw error;
        deps.log.warn(
          { step: 'power', pool, story: `strays cannot be looked for: ${error.message}` },
          'provider cannot be asked',
        );
      }
    for (const name of unknownSince.keys()) if (!asked.has(name)) unknownSince.delete(name);
  };
}
