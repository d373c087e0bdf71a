import { textOf } from '../reasons/reason.ts';
import { lifecycle, type MachineEvent, poweredByUs } from './lifecycle.ts';
import type { Health, Machine, Power } from './machine.ts';

/** Observations of an idle machine. */
export interface Seen {
  readonly power: Power;
  /** Undefined: not measured. */
  readonly health?: Health | undefined;
  readonly problem?: string | undefined;
}

/**
 * What a look at the BMC of a machine at rest means: a person used the power button, a quarantine is over,
 * its hardware is ill or well again, somebody wants it on or off; or nothing. Power that nobody asked for is
 * adopted, never fought.
 */
export function unexpectedChange(
  machine: Machine,
  seen: Seen,
  newOperation: string,
  now: number,
): MachineEvent | undefined {
  const { spec, status } = machine;
  const { on, step } = lifecycle[status.state];
  if (spec.maintenance && on['maintenance-began']) return { type: 'maintenance-began' };
  if (!spec.maintenance && on['maintenance-ended']) return { type: 'maintenance-ended' };
  // Who joins or is drained does not wait for power: losing it is a surprise.
  if (seen.power === 'unknown' || (status.operation && step === 'power-action')) return undefined;
  if (!mayBeReleased(machine, seen, now)) return undefined;
  const { power } = seen;
  if (power === 'on' && byHand(machine, 'off', now) && on['drain-requested'])
    return { type: 'drain-requested', operation: newOperation };
  if (power === 'off')
    return on['found-off'] ? { type: 'found-off' } : atRest(machine, seen, newOperation, now);
  // Powered on by us without ever becoming a node: only a fresh start can help.
  const strayed = status.lastError?.code === 'never-joined' && !status.kubernetesNode && poweredByUs(machine);
  if (on['power-off-requested'] && strayed) return { type: 'power-off-requested', operation: newOperation };
  return on['found-on'] && { type: 'found-on' };
}

/** An unhealthy machine stays in quarantine until it is healthy; others until their time is over. */
function mayBeReleased({ status }: Machine, { health }: Seen, now: number): boolean {
  if (!status.lastError || lifecycle[status.state].capacity !== 'none') return true;
  if (status.lastError.code === 'unhealthy' && health !== undefined)
    return health === 'ok' || health === 'warning';
  return (status.retryAt ?? 0) <= now;
}

/** It is off and nothing is done about it: is anything to be? */
function atRest(
  machine: Machine,
  { health, problem }: Seen,
  newOperation: string,
  now: number,
): MachineEvent | undefined {
  const { spec, status } = machine;
  const { on } = lifecycle[status.state];
  if (!on['power-on-requested'] || status.operation) return undefined;
  if (spec.made) return { type: 'power-off-requested', operation: newOperation };
  if (health === 'critical' && on.failed)
    return { type: 'failed', code: 'unhealthy', message: problem ?? textOf({ code: 'hardware-critical' }) };
  return byHand(machine, 'on', now) ? { type: 'power-on-requested', operation: newOperation } : undefined;
}

const byHand = ({ spec, status }: Machine, wanted: 'on' | 'off', now: number): boolean =>
  spec.powerState === wanted && !status.operation && !((status.retryAt ?? 0) > now);
