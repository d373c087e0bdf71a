import { because, type Explained, type Reason } from '../reasons/reason.ts';
import { stableReads, type Timings } from '../settings.ts';
import type { Power, PowerVerb } from './machine.ts';
import type { Operation } from './operation.ts';

export type PowerStep =
  | ({ readonly kind: 'command'; readonly verb: PowerVerb } & Explained)
  | ({ readonly kind: 'wait' } & Explained)
  | { readonly kind: 'reached' }
  /** More tries would not help. */
  | ({ readonly kind: 'impossible' } & Explained);

const wait = (reason: Reason): PowerStep => ({ kind: 'wait', ...because(reason) });

/** Earlier commands of any operation, and the capabilities of the machine. */
export interface Powers {
  readonly softOff: boolean;
  readonly hardOff: boolean;
  readonly lastCommandAt?: number | undefined;
  /** An off that was sent and may still come. */
  readonly pendingOff?: { readonly verb: PowerVerb; readonly at: number } | undefined;
  /** Its power is unknown, but it exists: a machine made on demand can still be returned. */
  readonly lingers?: boolean | undefined;
}

/**
 * The next step of a power operation, from what the BMC says now and what it was told before.
 * A command is a request, not a result: only consecutive equal reads are. Set-state commands only.
 */
export function nextPowerStep(
  operation: Operation,
  reading: { readonly power: Power; readonly times: number },
  powers: Powers,
  timings: Timings,
  now: number,
): PowerStep {
  if (operation.goal === 'off' && !powers.softOff && !powers.hardOff && reading.power !== 'off')
    return { kind: 'impossible', ...because({ code: 'cannot-power-off' }) };
  const mayGo = operation.goal === 'off' && operation.commands.length === 0 && powers.lingers === true;
  if (reading.power === 'unknown' && !mayGo) return wait({ code: 'power-unknown' });
  const mayStillGoOff = operation.goal === 'on' && offMayCome(powers, reading.power, timings, now);
  if (mayStillGoOff) return wait(mayStillGoOff);
  const again = wait({ code: 'read-again', power: reading.power });
  if (reading.power === operation.goal) return reading.times >= stableReads ? { kind: 'reached' } : again;
  // One read of Off does not prove that the off has had its effect.
  if (powers.pendingOff && operation.goal === 'on' && reading.times < stableReads) return again;
  const step =
    operation.goal === 'on'
      ? stepTowardsOn(operation, timings, now)
      : stepTowardsOff(operation, powers, timings, now);
  return step.kind === 'command' && tooSoon(powers, timings, now)
    ? wait({ code: 'command-just-sent' })
    : step;
}

/** A late off kills a machine that was just started: on is neither believed nor sent before it came. */
function offMayCome(
  { pendingOff }: Powers,
  power: Power,
  { powerOffTimeoutMs }: Timings,
  now: number,
): Reason | undefined {
  if (!pendingOff || power !== 'on') return undefined;
  const age = now - pendingOff.at;
  return age < powerOffTimeoutMs ? { code: 'off-may-come', agoMs: Math.max(0, age) } : undefined;
}

/** Whoever wrote the time down may have a clock that is off: what lies far ahead is not waited for. */
const tooSoon = ({ lastCommandAt }: Powers, { commandEveryMs }: Timings, now: number): boolean =>
  lastCommandAt !== undefined && Math.abs(now - lastCommandAt) < commandEveryMs;

function stepTowardsOn(operation: Operation, timings: Timings, now: number): PowerStep {
  const last = operation.commands.at(-1);
  if (!last) return { kind: 'command', verb: 'on', why: operation.why };
  if (now - last.at < timings.resendAfterMs) return wait({ code: 'requested', verb: 'on' });
  return { kind: 'command', verb: 'on', ...because({ code: 'sent-again', power: 'off' }) };
}

function stepTowardsOff(
  operation: Operation,
  { softOff, hardOff }: Powers,
  timings: Timings,
  now: number,
): PowerStep {
  const first = operation.commands[0];
  const last = operation.commands.at(-1);
  if (!first || !last)
    return { kind: 'command', verb: softOff ? 'soft-off' : 'hard-off', why: operation.why };
  // The first command may never have been sent: the process can have died after recording it. A second one
  // gets its timeout too.
  const askedTwice = operation.commands.length > 1;
  const inVain = hardOff && (!softOff || (askedTwice && now - first.at >= timings.softOffPatienceMs));
  const verb: PowerVerb = inVain ? 'hard-off' : 'soft-off';
  const { resendAfterMs, softOffPatienceMs } = timings;
  const waitMs = last.verb === 'soft-off' ? Math.min(resendAfterMs, softOffPatienceMs) : resendAfterMs;
  if (now - last.at < waitMs) return wait({ code: 'requested', verb: last.verb });
  return {
    kind: 'command',
    verb,
    ...because(verb === last.verb ? { code: 'sent-again', power: 'on' } : { code: 'soft-off-ignored' }),
  };
}
