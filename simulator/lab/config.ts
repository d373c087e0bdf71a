import type { DriverDeps } from '../../shared/ports/power.ts';
import { PowerError } from '../../shared/ports/power.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import type { InventoryEntry } from './lab.ts';

/** How patient to be with machines that live faster than real ones. */
export const labTimings = {
  bmcTimeout: '2s',
  readEvery: '200ms',
  sweepEvery: '2s',
  commandEvery: '200ms',
  resendAfter: '3s',
  softOffPatience: '6s',
  powerOnTimeout: '20s',
  powerOffTimeout: '30s',
  shortestJoinTimeout: '20s',
  retryAfter: '15s',
  retryAfterMax: '60s',
  evictEvery: '300ms',
};

/** The inventory of a lab, as somebody would have written it into a file. */
export function labConfig(
  inventory: readonly InventoryEntry[],
  rest: Partial<ConfigInput> = {},
): ConfigInput {
  return {
    schemaVersion: 'v1alpha1',
    pools: [{ name: 'default' }],
    ...rest,
    autoscaler: { timings: labTimings, ...rest.autoscaler },
    machines: inventory.map(({ credentials: _, bootSeconds: __, pool = 'default', ...machine }) => ({
      ...machine,
      pool,
      bmcCredentials: machine.name,
    })),
  };
}

/** The lab's own passwords, without a Secret. */
export function labCredentials(inventory: readonly InventoryEntry[]): DriverDeps['credentials'] {
  const byName = new Map(inventory.map(({ name, credentials }) => [name, credentials]));
  return async (name) => {
    const found = byName.get(name);
    if (!found) throw new PowerError('config', `the lab has no machine ${name}`);
    return { username: found.user, password: found.password };
  };
}
