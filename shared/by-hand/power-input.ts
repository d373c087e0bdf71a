import { z } from 'zod';
import { liftQuarantine } from './end-quarantine.ts';
import { InHand, setMaintenance } from './maintenance.ts';
import { type Asked, ByHand, byHand, type Hands } from './power.ts';

export const PowerInput = z
  .strictObject({
    machine: z
      .string()
      .min(1)
      .optional()
      .describe('only this one; otherwise every machine that waits for power'),
    ...ByHand.shape,
    ...InHand.shape,
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

/** Begins what a person asks for; undefined: nothing is asked for, it is a wake-up call. */
export async function asked(
  hands: Hands,
  { machine, power, maintenance, lift, ...how }: z.output<typeof PowerInput>,
): Promise<Asked | undefined> {
  if (machine === undefined) return undefined;
  if (lift) return liftQuarantine(hands, machine, how.by);
  if (power !== undefined) return byHand(hands, machine, { power, ...how });
  if (maintenance !== undefined) return setMaintenance(hands, machine, maintenance, how.by);
  return undefined;
}
