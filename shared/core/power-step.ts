import type { Power, PowerVerb } from './machine.ts';
import type { Operation } from './operation.ts';
import { stableReads, type Timings } from './settings.ts';

export type PowerStep =
  | { readonly kind: 'command'; readonly verb: PowerVerb; readonly why: string }
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'reached' };

/**
 * The next step of a power operation, from what the BMC says now and what it was told before.
 * A command is a request, not a result: only consecutive equal reads are. Set-state commands only.
 */
export function nextPowerStep(
  operation: Operation,
  reading: { readonly power: Power; readonly times: number },
  timings: Timings,
  now: number,
): PowerStep {
  if (reading.power === 'unknown') return { kind: 'wait', why: 'power is unknown' };
  if (reading.power === operation.goal)
    return reading.times >= stableReads
      ? { kind: 'reached' }
      : { kind: 'wait', why: `power is ${reading.power}; reading again to be sure` };
  return operation.goal === 'on'
    ? stepTowardsOn(operation, timings, now)
    : stepTowardsOff(operation, timings, now);
}

function stepTowardsOn(operation: Operation, timings: Timings, now: number): PowerStep {
  const last = operation.commands.at(-1);
  if (!last) return { kind: 'command', verb: 'on', why: operation.why };
  if (now - last.at < timings.resendAfterMs) return { kind: 'wait', why: 'on was requested' };
  return { kind: 'command', verb: 'on', why: 'still off: sent again' };
}

function stepTowardsOff(operation: Operation, timings: Timings, now: number): PowerStep {
  const first = operation.commands[0];
  const last = operation.commands.at(-1);
  if (!first || !last) return { kind: 'command', verb: 'soft-off', why: operation.why };
  if (now - first.at >= timings.softOffPatienceMs) {
    if (last.verb === 'hard-off' && now - last.at < timings.resendAfterMs)
      return { kind: 'wait', why: 'hard off was requested' };
    return { kind: 'command', verb: 'hard-off', why: 'still on: the soft off was ignored' };
  }
  if (now - last.at < timings.resendAfterMs) return { kind: 'wait', why: 'soft off was requested' };
  return { kind: 'command', verb: 'soft-off', why: 'still on: sent again' };
}
