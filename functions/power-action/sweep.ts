import { withLog } from '../../shared/core/machine/hardware-log.ts';
import { describeProblems, type Measured, nextMoment } from '../../shared/core/machine/health.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { KnownLog } from '../../shared/core/machine/machine.ts';
import { unexpectedChange } from '../../shared/core/machine/observed-power.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { PowerDriver } from '../../shared/ports/power.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { appendBootProgress, saveMeasured, saveObservation } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import { adopt } from './adopt.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { createLogReader } from './hardware-log.ts';
import { type PowerResult, readPower } from './read-power.ts';
import { readSensors, toSeen } from './sensors.ts';
import { matchSize } from './size.ts';

/** A booting machine is checked at this multiple of the read interval, for its boot progress. */
const bootingFactor = 5;

/**
 * Sensors need several requests and change slowly: they are read this many times less often than the power.
 */
const sensorsFactor = 5;

interface Known {
  /** Time of the next check, in memory; a new instance starts with the machine's slot. */
  readonly at: number;
  /** Revision of the spec at the last check. */
  readonly spec?: number | undefined;
  readonly sensedAt?: number | undefined;
  /** The driver for this revision of the spec. */
  readonly driver?: { readonly revision: number; readonly made: Promise<PowerDriver> } | undefined;
}

export interface Sweep {
  (record: MachineRecord, settings: Settings, signal: AbortSignal): Promise<string>;
  /** Whether a check is due. */
  isDue(record: MachineRecord, settings: Settings): boolean;
  /** Schedules a check for the next tick. */
  checkSoon(name: string): void;
  /** Drops machines that no longer exist. */
  keepOnly(names: ReadonlySet<string>): void;
}

/** Checks machines without an operation, spread over the interval, and adopts unexpected changes. */
export function createSweep(deps: Deps, breaker: CircuitBreaker): Sweep {
  const known = new Map<string, Known>();
  const { clock, inventory, log } = deps;
  const logs = createLogReader(deps);

  const driverOf = (record: MachineRecord): Promise<PowerDriver> => {
    const { name } = record.spec;
    const before = known.get(name);
    const revision = record.revisions.spec;
    if (before?.driver?.revision === revision) return before.driver.made;
    const made = deps.driverFor(record.spec);
    known.set(name, { ...before, at: before?.at ?? 0, driver: { revision, made } });
    // A failed creation is not cached.
    made.catch(() => known.delete(name));
    return made;
  };
  const scheduleCheck = (name: string, at: number): void => {
    known.set(name, { ...known.get(name), at });
  };
  /** Sensors of a machine that is unhealthy or was never measured are read at every check. */
  const mayMeasure = ({ spec, metrics }: MachineRecord, { timings }: Settings): boolean => {
    if (metrics.health !== 'ok' && metrics.health !== 'unknown') return true;
    // A provider can withdraw a slice at any time, and its node does not show it.
    if (spec.offer !== undefined) return true;
    const last = Math.max(known.get(spec.name)?.sensedAt ?? 0, metrics.at ?? 0);
    return clock.now() - last >= sensorsFactor * timings.sweepEveryMs;
  };
  const measure = async (
    record: MachineRecord,
    result: PowerResult,
    driver: () => Promise<PowerDriver>,
    settings: Settings,
    signal: AbortSignal,
  ): Promise<Measured | undefined> => {
    if (!result.reading || !mayMeasure(record, settings)) return undefined;
    const measured = await readSensors(await driver(), result, settings.timings, signal);
    const { name } = record.spec;
    known.set(name, { at: 0, ...known.get(name), sensedAt: clock.now() });
    return measured;
  };
  const isDue = ({ spec, status, revisions }: MachineRecord, { timings }: Settings): boolean => {
    const before = known.get(spec.name);
    // A machine made on demand may have a new size.
    const changed = spec.made && before?.spec !== undefined && before.spec !== revisions.spec;
    if (before) return changed || clock.now() >= before.at;
    // Its power was never read: nothing can be decided about it before.
    if (status.powerState === 'unknown') return true;
    scheduleCheck(spec.name, nextMoment(spec.name, timings.sweepEveryMs, clock.now()));
    return false;
  };

  const sweep = async (record: MachineRecord, settings: Settings, signal: AbortSignal): Promise<string> => {
    const { spec } = record;
    const { timings } = settings;
    if (!isDue(record, settings)) return 'checked recently';
    // While a check is in progress, the next tick does not start another.
    known.set(spec.name, {
      ...known.get(spec.name),
      at: clock.now() + timings.bmcTimeoutMs,
      spec: record.revisions.spec,
    });
    const driver = (): Promise<PowerDriver> => driverOf(record);
    const looked = await readPower({ driver, breaker, record, spec, timings, signal });
    if (looked.blocked) return `its BMC is left alone: ${looked.problem}`;
    if (looked.power !== 'unknown' || looked.final)
      scheduleCheck(spec.name, nextCheck(record, settings, clock.now()));
    if (looked.problem && record.status.bmcReachable !== false && !record.status.refused)
      log.warn({ step: 'sweep', machine: spec.name, text: looked.problem }, 'power cannot be read');

    const sensed = await measure(record, looked, driver, settings, signal);
    const hardwareLog = looked.reading
      ? await logs.read(record, driver, settings.timings, signal)
      : record.metrics.log;
    const measured = withLog(sensed, hardwareLog, record.status.acknowledgedAt);
    const seen = toSeen(looked, measured);
    await saveHealth(record, measured, hardwareLog);
    await saveBootProgress(record, looked);
    if (unexpectedChange(record, seen, '', clock.now()))
      return (
        (await adopt(deps, breaker, driver, record, { seen, log: hardwareLog }, settings, signal)) ??
        'another instance is at it'
      );
    const observed = {
      ...looked.observed,
      ...(looked.final?.code === 'auth' &&
        (await breaker.stillRefused(record)) === undefined && {
          refused: await breaker.refused(record, looked.final.message),
        }),
    };
    await saveObservation(inventory, record, observed);
    const resized = await matchSize(deps, record, looked.reading, driver, settings, signal);
    return resized ?? `power is ${looked.power}`;
  };

  /** Logs the start and the end of a health problem, and stores the measurements. */
  async function saveHealth(
    record: MachineRecord,
    measured: Measured | undefined,
    hardwareLog: KnownLog | undefined,
  ): Promise<void> {
    if (measured) logHealth(record, measured);
    await saveMeasured(inventory, record, measured, clock.now(), hardwareLog);
  }

  function logHealth(record: MachineRecord, measured: Measured): void {
    const { health, problems } = record.metrics;
    const said = JSON.stringify(problems ?? []) === JSON.stringify(measured.problems);
    const bad = measured.health === 'critical' || measured.health === 'warning';
    if (bad && (health !== measured.health || !said))
      log.warn(
        {
          step: 'sweep',
          machine: record.spec.name,
          health: measured.health,
          text: `${measured.health}: ${describeProblems(measured)}`,
        },
        'hardware has a problem',
      );
    else if (!bad && (health === 'critical' || health === 'warning'))
      log.info(
        { step: 'sweep', machine: record.spec.name, text: 'its hardware is well again' },
        'hardware is well again',
      );
  }

  async function saveBootProgress(record: MachineRecord, { reading }: PowerResult): Promise<void> {
    const { operation } = record.status;
    if (operation && reading?.bootProgress && capacityOf(record) === 'coming')
      await appendBootProgress(inventory, operation, reading.bootProgress, clock.now());
  }

  return Object.assign(sweep, {
    isDue,
    checkSoon: (name: string) => scheduleCheck(name, 0),
    keepOnly(names: ReadonlySet<string>) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
      logs.keepOnly(names);
    },
  });
}

/** Spread over the period by name, so that many machines are not checked at the same time. */
function nextCheck(record: MachineRecord, { timings }: Settings, now: number): number {
  const period =
    capacityOf(record) === 'coming'
      ? Math.min(timings.sweepEveryMs, bootingFactor * timings.readEveryMs)
      : timings.sweepEveryMs;
  return nextMoment(record.spec.name, period, now);
}
