import { type MachineEvent, stepOf } from '../../shared/core/machine/lifecycle.ts';
import type { ErrorCode, Power } from '../../shared/core/machine/machine.ts';
import type { Operation } from '../../shared/core/machine/operation.ts';
import { nextPowerStep } from '../../shared/core/machine/power-step.ts';
import { overdue } from '../../shared/core/machine/transition.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { OperationRecord } from '../../shared/state/inventory.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { saveObservation } from '../../shared/state/machine-writes.ts';
import { reservePowerOn } from '../../shared/state/power-ons.ts';
import type { Deps } from '../deps.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { conclude } from './conclude.ts';
import { createProviders, type Providers } from './providers.ts';
import { readPower } from './read-power.ts';
import { isReturnable, returnMachine } from './return-machine.ts';
import { type Attempt, send } from './send.ts';
import { hasSameSize, saveGranted } from './size.ts';

/** Maximum duration of one invocation; the next tick continues. */
const maxRunMs = 20_000;

/**
 * Advances one power operation: reads the BMC, asks the core for the next step, records a command before it
 * is sent, and relies only on consecutive reads. Safe to run twice, and to be killed at any point.
 */
export async function runPowerOperation(
  deps: Deps,
  machine: string,
  signal: AbortSignal,
  breaker: CircuitBreaker = createCircuitBreaker(deps),
  providers: Providers = createProviders(deps),
): Promise<string> {
  const settings = await deps.inventory.settings();
  const result = await underMachineLease(deps, machine, settings, { ms: maxRunMs, signal }, async (lease) => {
    const end = await pursueOperation(
      deps,
      breaker,
      providers,
      machine,
      settings,
      AbortSignal.any([signal, lease.lost]),
      lease,
    );
    if (lease.lost.aborted) await markUnknown(deps, machine);
    return end;
  });
  return result ?? 'another instance is at it';
}

async function pursueOperation(
  deps: Deps,
  breaker: CircuitBreaker,
  providers: Providers,
  machine: string,
  settings: Settings,
  signal: AbortSignal,
  lease: Lease,
): Promise<string> {
  const { inventory, clock } = deps;
  const { timings } = settings;
  const pools = await inventory.pools();
  const until = clock.now() + maxRunMs;
  let driver: Promise<PowerDriver> | undefined;
  let seen: { power: Power; times: number } = { power: 'unknown', times: 0 };
  let unclear: string | undefined;
  let refusal: string | undefined;
  let finalError: PowerError | undefined;
  const pause = (ms = timings.readEveryMs): Promise<void> =>
    clock.sleep(Math.min(ms, Math.max(0, until - clock.now())), signal);

  while (!signal.aborted && clock.now() < until) {
    // Read again in every iteration: the store is authoritative.
    const record = await inventory.machine(machine);
    if (!record || stepOf(record) !== 'power-action' || !record.status.operation) return 'nothing to do';
    const operation = await inventory.operation(record.status.operation);
    if (!operation) return `operation ${record.status.operation} is missing from the store`;
    // The operation's own copy of the spec: a change of the inventory does not redirect it.
    const { spec, goal, commands } = operation.operation;
    const attempt: Attempt = {
      deps,
      breaker,
      providers,
      driver: () => {
        driver ??= deps.driverFor(spec);
        return driver;
      },
      record,
      operation,
      settings,
      lease,
      signal,
    };

    const first = goal === 'on' && commands.length === 0;
    const slot = first ? await reservePowerOn(inventory.store, spec, settings, clock.now()) : undefined;
    // Waiting for the rate limit is no failure of this machine: its deadline does not apply.
    if (slot && 'wait' in slot) {
      deps.log.debug({ machine, why: slot.wait }, 'power-on waits for others');
      await pause();
      continue;
    }
    if (first) finalError ??= await providers.blocked(spec);
    const pool = pools.find(({ name }) => name === record.spec.pool);
    const late = pool && overdue(record, pool, timings, clock.now(), record.since);
    const ended =
      (finalError && (await failOperation(attempt, finalError))) ||
      (late && (await endLate(attempt, withCause(late, unclear), seen.power)));
    if (ended) return ended;

    const result = await readPower({ driver: attempt.driver, breaker, record, spec, timings, signal });
    if (result.blocked) {
      await pause(result.retryAfterMs);
      continue;
    }
    seen = { power: result.power, times: result.power === seen.power ? seen.times + 1 : 1 };
    unclear = result.reading?.unclear ?? result.problem ?? refusal;
    const powers = {
      ...(result.capabilities ?? { softOff: true, hardOff: true }),
      lastCommandAt: record.status.powerActionTime,
      pendingOff: record.status.pendingOff,
      lingers: spec.made && result.reading?.exists,
    };
    const step = nextPowerStep(byOurClock(operation.operation, record), seen, powers, timings, clock.now());
    let event: MachineEvent | undefined;
    if (result.final) finalError = result.final;
    else if (step.kind === 'impossible') event = failure(operation, step.why);
    else if (step.kind === 'reached' && isReturnable(attempt, result)) {
      finalError = await returnMachine(attempt, until);
      seen = { power: 'unknown', times: 0 };
    } else if (step.kind === 'reached') {
      // The granted size applies to the size of the operation; the sweep requests another size.
      const granted = hasSameSize(operation, record) ? result.reading?.resources : undefined;
      if (await saveGranted(deps, record, granted, lease)) continue;
      event = { type: seen.power === 'on' ? 'powered-on' : 'powered-off' };
      if (seen.power === 'on') await providers.made(spec);
    } else if (step.kind === 'command') {
      const failed = await send(attempt, step.verb, step.why, slot?.extra);
      finalError = failed?.final ? failed : undefined;
      refusal = failed?.message.replace(`${machine}: `, '');
      // Reads before a command say nothing about its effect.
      seen = { power: 'unknown', times: 0 };
    } else await saveObservation(inventory, record, result.observed);
    // Reads the store again before the operation ends.
    if (finalError) continue;
    const concluded = event && (await conclude(attempt, event, result.observed, result.reading));
    if (concluded) return concluded;
    await pause(result.retryAfterMs);
  }
  return signal.aborted ? 'interrupted; the next tick goes on' : 'still under way; the next tick goes on';
}

/** A command is not older than its state: the clock of another process must not shorten the timeout. */
function byOurClock(operation: Operation, { since }: MachineRecord): Operation {
  return {
    ...operation,
    commands: operation.commands.map(({ verb, at }) => ({ verb, at: Math.max(at, since) })),
  };
}

const failure = ({ operation }: OperationRecord, message: string): MachineEvent => {
  const code: ErrorCode = operation.goal === 'on' ? 'power-on-failed' : 'power-off-failed';
  return { type: 'failed', code, message };
};

/** Adds the last problem to the message of a timeout. */
const withCause = (event: MachineEvent, why: string | undefined): MachineEvent =>
  event.type === 'failed' && why ? { ...event, message: `${event.message}: ${why}` } : event;

/** Ends an operation that took too long. */
async function endLate(
  attempt: Attempt,
  event: MachineEvent,
  powerState: Power,
): Promise<string | undefined> {
  if (event.type === 'failed') await countFailure(attempt, { code: 'timeout', message: event.message });
  return conclude(attempt, event, { powerState });
}

/** A machine that is not made tells about its provider. */
async function countFailure(
  { providers, operation, settings }: Attempt,
  error: Pick<PowerError, 'code' | 'message'>,
): Promise<void> {
  const { goal, spec } = operation.operation;
  if (goal === 'on') await providers.failed(spec, error, settings.timings);
}

/** Fails the operation. Refused credentials are stored, so that retries do not lock the account. */
async function failOperation(attempt: Attempt, error: PowerError): Promise<string | undefined> {
  const { breaker, record, operation } = attempt;
  const refused =
    error.code === 'auth' &&
    (await breaker.stillRefused(record)) === undefined &&
    (await breaker.refused(record, error.message));
  await countFailure(attempt, error);
  return conclude(attempt, failure(operation, error.message), {
    powerState: 'unknown',
    bmcReachable: error.code !== 'config',
    ...(refused && { refused }),
  });
}

/** The lease expired during the operation: the effect of the last command is unknown. */
async function markUnknown({ inventory }: Deps, machine: string): Promise<void> {
  const record = await inventory.machine(machine);
  if (record && stepOf(record) === 'power-action' && record.status.operation)
    await saveObservation(inventory, record, { powerState: 'unknown' });
}
