import { z } from 'zod';
import type { Budget as CoreBudget } from '../core/settings.ts';
import { toWindow, windowFields } from './window.ts';

const howToWrite = 'write a number of machines such as 2, or a share such as "10%"';

export const Budget = z
  .strictObject({
    nodes: z
      .union([z.int().nonnegative(), z.string().regex(/^(100|[1-9]?\d)%$/, howToWrite)], {
        error: howToWrite,
      })
      .describe('how many machines may be leaving at once: a number, or a share of those that are on'),
    reasons: z
      .array(z.enum(['empty', 'underutilized', 'replaced']))
      .min(1)
      .optional()
      .describe('only for machines that leave for these reasons; all unless given'),
    cron: windowFields.cron.optional().describe('only in windows that begin then; always unless given'),
    for: windowFields.for.optional().describe('how long each of these windows lasts'),
    timeZone: windowFields.timeZone,
  })
  .superRefine((budget, context) => {
    if ((budget.cron === undefined) !== (budget.for === undefined))
      context.addIssue({ code: 'custom', path: ['cron'], message: 'cron and for go together' });
  })
  .transform(
    ({ nodes, reasons, cron, for: forMs, timeZone }): CoreBudget => ({
      nodes: typeof nodes === 'number' ? { count: nodes } : { share: Number(nodes.slice(0, -1)) / 100 },
      reasons,
      window:
        cron === undefined || forMs === undefined ? undefined : toWindow({ cron, for: forMs, timeZone }),
    }),
  );
