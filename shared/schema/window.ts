import { z } from 'zod';
import { cronProblem } from '../core/limits/cron.ts';
import type { Window } from '../core/settings.ts';
import { durationMs } from './duration.ts';

const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

const Cron = z
  .string()
  .superRefine((text, context) => {
    const problem = cronProblem(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .describe('when it begins: minute hour day-of-month month day-of-week, as cron has it');

const TimeZone = z
  .string()
  .refine(isTimeZone, 'not a time zone: write an IANA name such as Europe/Berlin')
  .optional()
  .describe('IANA name such as Europe/Berlin; UTC unless given');

export const windowFields = {
  cron: Cron,
  for: durationMs.describe('for how long'),
  timeZone: TimeZone,
} as const;

export const toWindow = (given: { cron: string; for: number; timeZone?: string | undefined }): Window => ({
  cron: given.cron,
  forMs: given.for,
  timeZone: given.timeZone,
});
