import { grown } from './arrays.ts';

/** How many pods of some sort there are in every domain (zone, rack, host …) of one topology key. */
export interface Counter {
  /** Index of the topology key. */
  readonly key: number;
  counts: Int32Array;
  /** In all domains together. */
  total: number;
}

export const createCounter = (key: number): Counter => ({ key, counts: new Int32Array(0), total: 0 });

export const countIn = ({ counts }: Counter, domain: number): number =>
  domain < counts.length ? (counts[domain] as number) : 0;

export function count(counter: Counter, domain: number, pods: number): void {
  if (domain >= counter.counts.length) counter.counts = grown(counter.counts, domain + 1);
  counter.counts[domain] = (counter.counts[domain] as number) + pods;
  counter.total += pods;
}
