import { signal } from '@preact/signals';

/** As the API names them. */
export const ranges = ['15m', '1h', '6h', '24h', '7d', '30d'] as const;
export type Range = (typeof ranges)[number];

/** One for all plots: a page that is opened next shows the same span. */
export const range = signal<Range>('1h');
