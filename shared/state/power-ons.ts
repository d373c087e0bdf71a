import { isLimited, lastMinute, type PowerOn, tooMany } from '../core/limits/rate.ts';
import type { MachineSpec } from '../core/machine/machine.ts';
import type { Settings } from '../core/settings.ts';
import type { Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';
import type { ExtraWrites } from './machine-writes.ts';

export type PowerOnSlot = { readonly wait: string } | { readonly extra: ExtraWrites | undefined };

/**
 * Whether a machine may be powered on now, by the limits per minute, rack and circuit. The answer counts only if
 * `also` goes into the commit that records the command: whoever comes at the same time loses it, and asks again.
 */
export async function reservePowerOn(
  store: Store,
  spec: MachineSpec,
  { rateLimits }: Settings,
  now: number,
): Promise<PowerOnSlot> {
  // Without limits there is no window that everybody would have to write to.
  if (!isLimited(rateLimits)) return { extra: undefined };
  const key = keys.global('power-ons');
  const entry = await store.get(key);
  const known = entry ? decode<{ recent: PowerOn[] }>(key, entry.value).recent : [];
  const recent = lastMinute(known, now);
  const wait = tooMany(spec, recent, rateLimits, now);
  if (wait !== undefined) return { wait };
  const { name, rack, powerCircuit } = spec;
  const one: PowerOn = { machine: name, rack, powerCircuit, at: now };
  return {
    extra: {
      conditions: [{ key, revision: entry?.revision ?? 0 }],
      writes: [{ put: key, value: encode({ recent: [...recent, one] }) }],
    },
  };
}
