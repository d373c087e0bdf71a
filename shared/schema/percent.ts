import { z } from 'zod';

const noPercentage = 'write a percentage such as 30%';

/** "30%" → 0.3 */
export const Percent = z
  .string(noPercentage)
  .regex(/^\d{1,3}%$/, noPercentage)
  .transform((text) => Number(text.slice(0, -1)) / 100)
  .pipe(z.number().max(1, 'write at most 100%'));
