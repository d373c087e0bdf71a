import type { PowerVerb } from '../../shared/core/machine/machine.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { type PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { OperationRecord } from '../../shared/state/inventory.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { type ExtraWrites, recordCommand } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Providers } from './providers.ts';

export interface Attempt {
  readonly deps: Deps;
  readonly breaker: CircuitBreaker;
  readonly providers: Providers;
  readonly driver: () => Promise<PowerDriver>;
  readonly record: MachineRecord;
  readonly operation: OperationRecord;
  readonly settings: Settings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** Sends a command. Returns what went wrong with it. */
export async function send(
  attempt: Attempt,
  verb: PowerVerb,
  why: string,
  extra: ExtraWrites | undefined,
): Promise<PowerError | undefined> {
  const { deps, record, operation, settings, lease, signal } = attempt;
  const { log, clock, inventory, failpoint } = deps;
  const { name } = record.spec;
  const { bmcTimeoutMs } = settings.timings;
  const { spec, id } = operation.operation;
  // The lease must outlive the call, or another instance could command the same machine meanwhile.
  const leaseSuffices = (): boolean => lease.remainingMs() > bmcTimeoutMs;
  if (!leaseSuffices()) return undefined;
  // A hard off follows a soft one: what can go wrong has its failpoints there.
  const at = (place: 'before-record' | 'before-command' | 'after-command'): void => {
    if (verb !== 'hard-off') failpoint(`power-${place}-${verb}`);
  };
  at('before-record');
  if (!(await recordCommand(inventory, record, operation, verb, lease, clock.now(), extra))) return undefined;
  at('before-command');
  const inTime = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(bmcTimeoutMs)]);
  const failed = await withErrorLog(attempt, verb, async () => {
    const driver = await attempt.driver();
    if (verb === 'on' && spec.bootProfile !== undefined) await bootFromNetwork(driver, attempt, inTime());
    // Checked again: this process may have been paused meanwhile.
    if (!leaseSuffices()) return;
    await driver.set(verb, inTime(), id);
  });
  if (failed) return failed;
  at('after-command');
  log.info(
    {
      step: 'power',
      machine: name,
      verb,
      why,
      operation: id,
      text: `${verb.replace('-', ' ')} requested (${record.spec.powerInterface}, operation ${id.slice(-4)})`,
    },
    'power requested',
  );
  return undefined;
}

/** Set with every power-on: the last boot may have used the override. */
async function bootFromNetwork(
  driver: PowerDriver,
  { record: { spec } }: Attempt,
  signal: AbortSignal,
): Promise<void> {
  if (driver.bootFromNetwork) return driver.bootFromNetwork(signal);
  throw new PowerError(
    'config',
    `${spec.name}: bootProfile ${spec.bootProfile} needs a driver that boots from the network; ${spec.powerInterface} does not`,
  );
}

/** Calls a BMC. Errors are logged, counted by the circuit breaker, and returned. */
export async function withErrorLog(
  { deps, breaker, record, operation, settings, signal }: Attempt,
  what: string,
  work: () => Promise<void>,
): Promise<PowerError | undefined> {
  const count = (outcome: string): void =>
    deps.metrics?.powerCommands.inc({ driver: record.spec.powerInterface, verb: what, outcome });
  try {
    await work();
    count('ok');
    return undefined;
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    count(error.code);
    if (!signal.aborted) breaker.failed(operation.operation.spec, error, settings.timings);
    deps.log.warn(
      { step: 'power', machine: record.spec.name, verb: what, code: error.code, text: error.message },
      'power command failed',
    );
    return error;
  }
}
