import { lifecycle, type MachineEvent, poweredByUs } from './lifecycle.ts';
import type { Machine, Power } from './machine.ts';

/**
 * What a look at the BMC of a machine at rest means: a person used the power button, a quarantine is over,
 * or nothing. Power that nobody asked for is adopted, never fought.
 */
export function surprise(
  machine: Machine,
  power: Power,
  newOperation: string,
  now: number,
): MachineEvent | undefined {
  const { spec, status } = machine;
  const { on, capacity, step } = lifecycle[status.state];
  if (spec.maintenance && on['maintenance-began']) return { type: 'maintenance-began' };
  if (!spec.maintenance && on['maintenance-ended']) return { type: 'maintenance-ended' };
  // Who joins or is drained does not wait for power: losing it is a surprise.
  if (power === 'unknown' || (status.operation && step === 'power-action')) return undefined;
  if (status.lastError && capacity === 'none' && (status.retryAt ?? 0) > now) return undefined;
  if (power === 'off') return on['found-off'] && { type: 'found-off' };
  // Powered on by us without ever becoming a node: only a fresh start can help.
  const strayed = status.lastError?.code === 'never-joined' && !status.kubernetesNode && poweredByUs(machine);
  if (on['power-off-requested'] && strayed) return { type: 'power-off-requested', operation: newOperation };
  return on['found-on'] && { type: 'found-on' };
}
