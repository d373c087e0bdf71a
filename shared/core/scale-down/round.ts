import type { Node, Pod } from '../cluster/cluster.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import type { Relief } from '../decide/signals/demand-signals.ts';
import type { Departures } from '../limits/departures.ts';
import type { Budgets } from '../limits/disruption-budgets.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import type { Place, World } from '../simulate/simulated-cluster.ts';
import type { Mover } from './relocate-pods.ts';
/** A machine that serves, and what would have to move if it did not. */
export interface Server {
  readonly machine: Machine;
  readonly pool: PoolSpec;
  readonly node: Node;
  readonly place: Place;
  readonly pods: readonly Pod[];
  readonly use: number;
}

export interface Round {
  readonly situation: Situation;
  readonly world: World;
  readonly departures: Departures;
  readonly budgets: Budgets;
  readonly mover: Mover;
  readonly relief: Relief;
  /** Places that pods are counted on to come to. */
  readonly promised: Set<Place>;
}
