import type { MachineSpec, MachineStatus, Power } from '../../shared/core/machine/machine.ts';
import type { Timings } from '../../shared/core/settings.ts';
import {
  type Capabilities,
  type PowerDriver,
  PowerError,
  type PowerReading,
} from '../../shared/ports/power.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

export interface PowerResult {
  readonly power: Power;
  readonly reachable: boolean;
  readonly final?: PowerError;
  readonly retryAfterMs?: number | undefined;
  readonly problem?: string;
  /** The BMC was not called: the circuit breaker is open. */
  readonly blocked?: boolean;
  readonly reading?: PowerReading;
  readonly capabilities?: Capabilities;
  /** The driver can return it. */
  readonly releasable?: boolean;
  /** Observations to store with the machine. */
  readonly observed: Partial<MachineStatus>;
}

export interface ReadPowerOptions {
  readonly driver: () => Promise<PowerDriver>;
  readonly breaker: CircuitBreaker;
  readonly record: MachineRecord;
  /** An operation uses its own copy. */
  readonly spec: MachineSpec;
  readonly timings: Timings;
  readonly signal: AbortSignal;
}

/** Reads a machine's power. A time-out means unknown. */
export async function readPower(options: ReadPowerOptions): Promise<PowerResult> {
  const { breaker, record, spec, timings, signal } = options;
  const refused = await breaker.stillRefused(record);
  if (refused !== undefined) return unknownPower({ final: new PowerError('auth', refused), reachable: true });
  const closed = breaker.blocked(spec, timings);
  if (closed)
    return {
      ...unknownPower({ reachable: record.status.bmcReachable ?? false, problem: closed.why }),
      retryAfterMs: closed.ms,
      blocked: true,
    };
  try {
    const driver = await options.driver();
    const { capabilities } = driver;
    const reading = await driver.read(AbortSignal.any([signal, AbortSignal.timeout(timings.bmcTimeoutMs)]));
    breaker.answered(spec);
    checkIdentity(spec, reading);
    return {
      power: reading.power,
      reachable: true,
      reading,
      capabilities,
      releasable: driver.release !== undefined,
      observed: {
        powerState: reading.power,
        bmcReachable: true,
        blind: capabilities.status ? undefined : true,
        powerInferred: reading.inferred || undefined,
        cannotPowerOff: capabilities.softOff || capabilities.hardOff ? undefined : true,
        refused: undefined,
      },
    };
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    // An aborted call says nothing about the BMC.
    if (!signal.aborted) breaker.failed(spec, error, timings);
    if (error.final) return unknownPower({ final: error, reachable: error.code !== 'config' });
    const reachable = error.code === 'busy' || error.code === 'refused';
    return { ...unknownPower({ reachable, problem: error.message }), retryAfterMs: error.retryAfterMs };
  }
}

interface Failure {
  readonly reachable: boolean;
  readonly final?: PowerError;
  readonly problem?: string;
}

const unknownPower = (failure: Failure): PowerResult => ({
  power: 'unknown',
  observed: { powerState: 'unknown', bmcReachable: failure.reachable },
  ...failure,
  ...(failure.final && { problem: failure.final.message }),
});

/** Refuses a BMC that belongs to another machine. */
function checkIdentity(spec: MachineSpec, reading: PowerReading): void {
  const identities = [
    ['systemUUID', spec.systemUUID, reading.systemUUID],
    ['serialNumber', spec.serialNumber, reading.serial],
  ] as const;
  for (const [field, expected, found] of identities)
    if (expected && found && expected.toLowerCase() !== found.toLowerCase())
      throw new PowerError(
        'wrong-machine',
        `${spec.name}: its BMC belongs to machine ${found}, not ${expected}. Correct mgmtAddress or ${field}`,
      );
}
