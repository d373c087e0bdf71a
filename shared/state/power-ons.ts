import { isLimited, lastMinute, type PowerOn, tooMany } from '../core/limits/rate.ts';
import type { MachineSpec } from '../core/machine/machine.ts';
import { textOf } from '../core/reasons/reason.ts';
import type { Settings } from '../core/settings.ts';
import type { Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';
import type { ExtraWrites } from './machine-writes.ts';

export type PowerOnSlot = { readonly wait: string } | { readonly extra: ExtraWrites | undefined };

/**
 * Whether the limits per minute, rack and circuit allow a power-on now. The answer is valid only if `extra`
 * is part of the commit that records the command: of concurrent callers one wins, and the others ask again.
 */
export async function reservePowerOn(
  store: Store,
  spec: MachineSpec,
  { rateLimits }: Settings,
  now: number,
): Promise<PowerOnSlot> {
  // Without limits no shared window has to be written.
  if (!isLimited(rateLimits)) return { extra: undefined };
  const key = keys.global('power-ons');
  const entry = await store.get(key);
  const known = entry ? decode<{ recent: PowerOn[] }>(key, entry.value).recent : [];
  const recent = lastMinute(known, now);
  const wait = tooMany(spec, recent, rateLimits, now);
  if (wait !== undefined) return { wait: textOf(wait) };
  const { name, rack, powerCircuit } = spec;
  const one: PowerOn = { machine: name, rack, powerCircuit, at: now };
  return {
    extra: {
      conditions: [{ key, revision: entry?.revision ?? 0 }],
      writes: [{ put: key, value: encode({ recent: [...recent, one] }) }],
    },
  };
}
