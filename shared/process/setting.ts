import { z } from 'zod';
import type { FlagRow } from './flags.ts';

/** One process setting: its environment variable, its flag, what it means, what it may be. */
export interface Setting<Schema extends z.ZodType = z.ZodType> extends FlagRow {
  readonly schema: Schema;
}

export const setting = <Schema extends z.ZodType>(row: Setting<Schema>): Setting<Schema> => row;

export const wholeNumber = z.string().regex(/^\d+$/, 'write a whole number').transform(Number);
export const portNumber = wholeNumber.pipe(z.int().max(65_535, 'write a number up to 65535'));
