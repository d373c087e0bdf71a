import type { Machine } from '../machine/machine.ts';
import type { Offer } from '../remote/offer.ts';
import type { Size } from '../settings.ts';
import type { Place } from '../simulate/simulated-cluster.ts';
/** What a shelf of slices of a remote cluster is. */
export interface Lending {
  readonly offer: Offer;
  /** No slice is larger, whatever is left. */
  readonly most: Size;
  /** A slice that there is, which may be made larger: instead of one more. */
  readonly grows?: { readonly machine: Machine; readonly place: Place } | undefined;
}

/** Makes descriptions of machines that do not exist yet, or not in that size. */
export interface Maker {
  /** None is made smaller. */
  readonly least: Size;
  /** Of the largest size, under a name that nobody has; absent where there is only the one. */
  readonly another?: (() => Machine) | undefined;
  readonly ofSize: (machine: Machine, size: Size) => Machine;
  /** Of what remote clusters lend. */
  readonly lending?: Lending | undefined;
}
