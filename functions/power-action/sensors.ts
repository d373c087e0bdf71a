import { describeProblems, type Measured } from '../../shared/core/machine/health.ts';
import type { Seen } from '../../shared/core/machine/observed-power.ts';
import type { Timings } from '../../shared/core/settings.ts';
import { type PowerDriver, PowerError } from '../../shared/ports/power.ts';
import type { PowerResult } from './read-power.ts';

/** What the sensors of a machine say. Undefined: it has none, or they did not answer, which says nothing. */
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
    // The power was read just now: a BMC that only keeps its sensors to itself is not in trouble.
    return undefined;
  }
}

/** What a look showed, for the core to judge. */
export const toSeen = ({ power }: PowerResult, measured: Measured | undefined): Seen => ({
  power,
  ...(measured && { health: measured.health, problem: describeProblems(measured) }),
});
