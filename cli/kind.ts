import type { z } from 'zod';
import type { Column } from './output/table.ts';
/** A kind of object that can be shown. */
export interface Kind<Item> {
  readonly name: string;
  /** What one of them is called, and for short. */
  readonly one: string;
  readonly short: readonly string[];
  readonly path: string;
  readonly shape: z.ZodType<Item>;
  readonly nameOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
}
