import { afterReading, stillCritical } from '../../shared/core/machine/hardware-log.ts';
import { nextMoment } from '../../shared/core/machine/health.ts';
import type { KnownLog } from '../../shared/core/machine/machine.ts';
import type { Timings } from '../../shared/core/settings.ts';
import { type PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';

/** Hardware logs grow slowly, and some BMCs are slow to return them. */
const everyMs = 600_000;

export interface LogReader {
  /**
   * The hardware log of a machine: read when its interval has passed, and always while it has critical
   * entries.
   */
  read(
    record: MachineRecord,
    driver: () => Promise<PowerDriver>,
    timings: Timings,
    signal: AbortSignal,
  ): Promise<KnownLog | undefined>;
  /** Drops machines that no longer exist. */
  keepOnly(names: ReadonlySet<string>): void;
}

export function createLogReader({ clock, log }: Deps): LogReader {
  const nextAt = new Map<string, number>();

  const isDue = ({ spec, status, metrics }: MachineRecord): boolean => {
    if (stillCritical(metrics.log, status.acknowledgedAt).length > 0) return true;
    const next = nextAt.get(spec.name);
    if (next !== undefined) return clock.now() >= next;
    // The first read happens before the machine is used.
    if (!metrics.log) return true;
    nextAt.set(spec.name, nextMoment(spec.name, everyMs, clock.now()));
    return false;
  };

  return {
    async read(record, driver, { bmcTimeoutMs }, signal) {
      const { spec, status, metrics } = record;
      const { readLog } = await driver();
      if (!readLog || !isDue(record)) return metrics.log;
      nextAt.set(spec.name, nextMoment(spec.name, everyMs, clock.now()));
      try {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(bmcTimeoutMs)]);
        const reading = await readLog(metrics.log?.last, inTime);
        if (!reading) return metrics.log;
        const known = afterReading(metrics.log, reading, status.acknowledgedAt, clock.now());
        return JSON.stringify(known) === JSON.stringify(metrics.log) ? metrics.log : known;
      } catch (error) {
        if (!(error instanceof PowerError)) throw error;
        // The power was read successfully: an unreadable log is no failure of the BMC.
        log.debug({ step: 'sweep', machine: spec.name, problem: error.message }, 'hardware log not readable');
        return metrics.log;
      }
    },
    keepOnly(names) {
      for (const name of nextAt.keys()) if (!names.has(name)) nextAt.delete(name);
    },
  };
}
