import type { Room } from '../limits/room.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import type { World } from '../simulate/simulated-cluster.ts';
import type { Shelf } from './machine-groups.ts';
import type { Surroundings } from './policies.ts';
import type { PolicyName } from './policy-names.ts';
export interface Chooser {
  readonly world: World;
  readonly shelves: readonly Shelf[];
  readonly room: Room;
  readonly policiesOf: (pool: PoolSpec | undefined) => readonly PolicyName[];
  readonly surroundings: Surroundings;
  /** Tells the surroundings of a machine that is on now, or (-1) is not after all. */
  readonly count: (machine: Machine, sign: 1 | -1) => void;
}
