import { z } from 'zod';

/** Powering a machine on was promised: the operation that does it is begun under this id, once. */
const Assigned = z.object({
  machine: z.string(),
  operation: z.string(),
  /** Since when the machine was off when it was chosen: once that is another time, the promise is used up. */
  since: z.number(),
  /** Made on demand: its description, as people would write it. */
  make: z.record(z.string(), z.unknown()).optional(),
});

/** A machine that the Cluster Autoscaler deleted: it no longer counts, though it may still boot or be emptied. */
const Leaving = z.object({
  machine: z.string(),
  /** The drain is begun under this id, once. */
  operation: z.string(),
  /** When it last came on: at its next coming it is wanted again. */
  cameAt: z.number(),
});

/** A request that no machine was there for. */
const Missing = z.object({ id: z.string(), why: z.string() });

/**
 * What the Cluster Autoscaler asked of a pool, at /baremetal/pools/{name}/target: written before anything is done
 * about it. How large the pool is follows from this and from what its machines do; it is stored nowhere.
 */
export const Target = z.object({
  assigned: z.array(Assigned),
  leaving: z.array(Leaving),
  missing: z.array(Missing),
});
export type Target = z.output<typeof Target>;
export type Assigned = z.output<typeof Assigned>;
export type Leaving = z.output<typeof Leaving>;

export const noTarget: Target = { assigned: [], leaving: [], missing: [] };
