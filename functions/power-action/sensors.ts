import { describeProblems, type Measured } from '../../shared/core/machine/health.ts';
import type { Seen } from '../../shared/core/machine/observed-power.ts';
import type { Timings } from '../../shared/core/settings.ts';
import { type PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { PowerResult } from './read-power.ts';

/** Reads the sensors of a machine. Undefined: it has none, or they did not respond. */
export async function readSensors(
  driver: PowerDriver | undefined,
  { capabilities }: PowerResult,
  { bmcTimeoutMs }: Timings,
  signal: AbortSignal,
): Promise<Measured | undefined> {
  if (!capabilities?.sensors || !driver?.sense) return undefined;
  try {
    return await driver.sense(AbortSignal.any([signal, AbortSignal.timeout(bmcTimeoutMs)]));
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    // The power was read successfully: unreadable sensors are no failure of the BMC.
    return undefined;
  }
}

/** Observations for the core. */
export const toSeen = ({ power }: PowerResult, measured: Measured | undefined): Seen => ({
  power,
  ...(measured && { health: measured.health, problem: describeProblems(measured) }),
});
