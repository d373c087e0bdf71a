import { because, type Reason, textOf } from '../reasons/reason.ts';
import type { PoolSpec, Timings } from '../settings.ts';
import { lifecycle, type MachineEvent, type OperationEnd } from './lifecycle.ts';
import type { Machine, MachineStatus } from './machine.ts';

export type TransitionResult =
  | { readonly ok: true; readonly status: MachineStatus; readonly ends?: OperationEnd | undefined }
  | { readonly ok: false; readonly why: string; readonly reason: Reason };

/** What becomes of a machine when something happens to it; or why that cannot happen to it now. */
export function transition(
  machine: Machine,
  event: MachineEvent,
  now: number,
  timings: Timings,
): TransitionResult {
  const { status } = machine;
  const row = lifecycle[status.state];
  const move = row.on[event.type];
  if (!move)
    return { ok: false, ...because({ code: 'no-transition', event: event.type, state: status.state }) };
  const refused = move.guard?.(machine, now);
  if (refused) return { ok: false, ...because(refused) };
  const next: MachineStatus = {
    ...status,
    ...effect(machine, event, now, timings),
    state: move.to,
    stateSince: now,
  };
  return {
    ok: true,
    status: move.ends ? { ...next, operation: undefined } : next,
    ends: move.ends,
  };
}

/** The event due because the machine has been in its state for too long, if any; `since` as the caller's clock has it. */
export function overdue(
  machine: Machine,
  pool: PoolSpec,
  timings: Timings,
  now: number,
  since = machine.status.stateSince,
): MachineEvent | undefined {
  const { deadline } = lifecycle[machine.status.state];
  if (!deadline) return undefined;
  const ms = deadline.ms(machine, pool, timings);
  if (now - since < ms) return undefined;
  return deadline.event(machine, ms);
}

function effect(
  { status }: Machine,
  event: MachineEvent,
  now: number,
  timings: Timings,
): Partial<MachineStatus> {
  switch (event.type) {
    case 'power-on-requested':
      return { operation: event.operation, drain: undefined, bootTime: undefined, joinTime: undefined };
    case 'powered-on':
      return { bootTime: now };
    case 'joined':
      return {
        kubernetesNode: event.node,
        joinTime: now,
        drain: undefined,
        ...(lifecycle[status.state].capacity === 'coming' && {
          ...forgiven,
          learnedBootMs: learnBootTime(status, now),
          ...(status.bootTime !== undefined && { provenAt: now }),
        }),
      };
    case 'drain-requested':
      return { operation: event.operation, drain: undefined };
    case 'power-off-requested':
      return { operation: event.operation };
    case 'cut-requested':
      // Nobody waits for its pods: as far as powering off is concerned they are gone.
      return { operation: event.operation, drain: { podsLeft: 0, podsTotal: 0 } };
    case 'drain-aborted':
      return { drain: undefined, ...(!event.needed && postponed(status, now, timings)) };
    case 'powered-off':
      return { ...forgiven, nodeReady: undefined, pendingOff: undefined };
    case 'lost':
      return {
        lastError: { code: 'node-lost', message: event.message, at: now },
        ...postponed(status, now, timings),
      };
    case 'failed':
      return {
        lastError: { code: event.code, message: event.message, at: now },
        ...postponed(status, now, timings),
      };
    case 'found-off':
      if (status.lastError?.code === 'unhealthy') return { ...forgiven, pendingOff: undefined };
      return lifecycle[status.state].capacity === 'coming'
        ? {
            lastError: {
              code: 'lost-power',
              message: textOf({ code: 'power-lost' }),
              at: now,
            },
            ...postponed(status, now, timings),
            pendingOff: undefined,
          }
        : { retryAt: undefined, pendingOff: undefined };
    case 'found-on':
      // It may take pods again: an earlier drain proves nothing any more.
      return { retryAt: undefined, bootTime: undefined, drain: undefined };
    case 'maintenance-ended':
      return { ...forgiven, acknowledgedAt: now };
    case 'drained':
    case 'maintenance-began':
      return {};
  }
}

const forgiven = { attempts: 0, retryAt: undefined, lastError: undefined };

function postponed(status: MachineStatus, now: number, timings: Timings): Partial<MachineStatus> {
  const wait = Math.min(timings.retryAfterMs * 2 ** status.attempts, timings.retryAfterMaxMs);
  return { attempts: status.attempts + 1, retryAt: now + wait };
}

/** Half the old value, half the new: recent boots count most, one odd boot does not rule. */
function learnBootTime(status: MachineStatus, now: number): number | undefined {
  if (status.bootTime === undefined) return status.learnedBootMs;
  const boot = now - status.bootTime;
  return Math.round(status.learnedBootMs === undefined ? boot : (status.learnedBootMs + boot) / 2);
}
