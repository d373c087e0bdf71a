import type { Group } from '../decide/demand.ts';
import type { Place } from '../simulate/simulated-cluster.ts';
import type { Chooser } from './chooser.ts';
import type { Chosen } from './greedy.ts';
import type { Shelf } from './machine-groups.ts';
import type { Order } from './orders.ts';
import type { Packing } from './pack-all.ts';

/** Everything a plan is made from. The world has nobody of the groups in it yet. */
export interface Task {
  readonly chooser: Chooser;
  readonly groups: readonly Group[];
  /** Whether the group has waited long enough for machines of the shelf's pool. */
  readonly mayAsk: (group: Group, shelf: Shelf) => boolean;
  readonly running: readonly Place[];
  /** Machines on their way. */
  readonly coming: readonly Place[];
}

export interface Study extends Task {
  readonly orders: readonly Order[];
  readonly share: Float64Array;
  /** How many more sets of machines may be looked at. */
  readonly looks: { left: number };
}

/** Machines, where everybody goes with them, and what that is worth. */
export interface Draft {
  readonly chosen: readonly Chosen[];
  readonly packing: Packing;
  readonly value: Value;
}

/** What a set of machines is worth: less is better, the first difference counts. */
export type Value = readonly number[];
