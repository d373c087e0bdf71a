import type { MachineSpec, Power } from '../../shared/core/machine.ts';
import { type PowerDriver, PowerError } from '../../shared/ports.ts';

export interface Look {
  readonly power: Power;
  readonly reachable: boolean;
  readonly final?: PowerError;
  readonly retryAfterMs?: number | undefined;
  readonly problem?: string;
}

/** Reads a machine's power. A time-out is unknown, never an answer. */
export async function look(
  driverFor: (spec: MachineSpec) => PowerDriver,
  spec: MachineSpec,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Look> {
  try {
    const { power, systemUUID } = await driverFor(spec).read(
      AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    );
    if (spec.systemUUID && systemUUID && spec.systemUUID.toLowerCase() !== systemUUID.toLowerCase())
      throw new PowerError(
        'wrong-machine',
        `${spec.name}: its BMC belongs to machine ${systemUUID}, not ${spec.systemUUID}. Correct mgmtAddress or systemUUID`,
      );
    return { power, reachable: true };
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    if (error.final)
      return { power: 'unknown', reachable: error.code !== 'config', final: error, problem: error.message };
    return {
      power: 'unknown',
      reachable: error.code === 'busy' || error.code === 'refused',
      retryAfterMs: error.retryAfterMs,
      problem: error.message,
    };
  }
}
