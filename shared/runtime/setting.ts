import type { z } from 'zod';
import type { FlagRow } from './flags.ts';

/** One process setting: its environment variable, its flag, what it means, what it may be. */
export interface Setting<Schema extends z.ZodType = z.ZodType> extends FlagRow {
  readonly schema: Schema;
}

export const setting = <Schema extends z.ZodType>(row: Setting<Schema>): Setting<Schema> => row;
