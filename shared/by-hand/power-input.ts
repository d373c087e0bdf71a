import { z } from 'zod';
import { endQuarantine } from './end-quarantine.ts';
import { MaintenanceFields, setMaintenance } from './maintenance.ts';
import { PowerFields, type RequestDeps, type RequestResult, requestPower } from './power.ts';

export const PowerInput = z
  .strictObject({
    machine: z
      .string()
      .min(1)
      .optional()
      .describe('only this one; otherwise every machine that waits for power'),
    ...PowerFields.shape,
    ...MaintenanceFields.shape,
    lift: z
      .boolean()
      .optional()
      .describe('true: somebody has dealt with what was wrong; its quarantine is over unless it still is'),
  })
  .refine(
    ({ machine, power, maintenance, lift }) =>
      (power === undefined && maintenance === undefined && !lift) || machine !== undefined,
    { path: ['machine'], message: 'which machine is meant?' },
  );

/** Starts what a person requests; undefined: the input is only a wake-up. */
export async function handlePowerInput(
  deps: RequestDeps,
  { machine, power, maintenance, lift, ...how }: z.output<typeof PowerInput>,
): Promise<RequestResult | undefined> {
  if (machine === undefined) return undefined;
  if (lift) return endQuarantine(deps, machine, how.by);
  if (power !== undefined) return requestPower(deps, machine, { power, ...how });
  if (maintenance !== undefined) return setMaintenance(deps, machine, maintenance, how.by);
  return undefined;
}
