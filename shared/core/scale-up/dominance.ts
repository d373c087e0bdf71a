import type { Machine } from '../machine/machine.ts';
import type { World } from '../simulate/simulated-cluster.ts';
import type { Chooser } from './chooser.ts';
import { nextOf, type Shelf } from './machine-groups.ts';
import type { PolicyName } from './policy-names.ts';

/** Shelves that need not be asked because another, which is asked, would win in any case. */
export interface Dominance {
  isAsleep(shelf: Shelf): boolean;
  /** No machine of the shelf can be had any more. Returns the shelves that have to be asked instead. */
  exhausted(shelf: Shelf): readonly Shelf[];
}

/** A difference in watts that the policy of that name sees. */
const clearly = 1.011;

/** Policies that say the same of all healthy machines of a pool. */
const equalWithinPool: readonly PolicyName[] = ['priority', 'own', 'health', 'pressure'];

/**
 * A machine that has as much of everything as another in the same place and draws clearly less holds at least the same
 * pods for fewer watts. Where watts decide first, the other one is of no use as long as there are machines like it.
 */
export function createDominance({ world, shelves, policiesOf, surroundings }: Chooser): Dominance {
  const bySite = new Map<object, Shelf[]>();
  for (const shelf of shelves) {
    if (!shelf.site || surroundings.flat || !nextOf(shelf)) continue;
    if (!isByWatts(policiesOf(shelf.pool)) || !isPlain(shelf)) continue;
    const known = bySite.get(shelf.site);
    if (known) known.push(shelf);
    else bySite.set(shelf.site, [shelf]);
  }
  const dominators = new Map<Shelf, Shelf>();
  const asleepUnder = new Map<Shelf, Shelf[]>();
  const awakeAt = new Map<object, Shelf[]>();
  /** Puts those to sleep that one of the awake dominates, the thriftiest first. Returns the others: they are awake now. */
  const settle = (site: object, given: readonly Shelf[]): Shelf[] => {
    const awake = awakeAt.get(site) ?? [];
    awakeAt.set(site, awake);
    return given.filter((shelf) => {
      const other = awake.find((one) => dominates(world, one, shelf));
      if (!other) {
        dominators.delete(shelf);
        awake.push(shelf);
        return true;
      }
      dominators.set(shelf, other);
      const list = asleepUnder.get(other);
      if (list) list.push(shelf);
      else asleepUnder.set(other, [shelf]);
      return false;
    });
  };
  for (const [site, group] of bySite)
    settle(
      site,
      group.sort((a, b) => idleOf(a) - idleOf(b)),
    );
  return {
    isAsleep: (shelf) => dominators.has(shelf),
    exhausted(shelf) {
      const { site } = shelf;
      const awake = site && awakeAt.get(site);
      const at = awake?.indexOf(shelf) ?? -1;
      if (!site || !awake || at < 0) return [];
      awake.splice(at, 1);
      const orphans = asleepUnder.get(shelf) ?? [];
      asleepUnder.delete(shelf);
      return settle(site, orphans);
    },
  };
}

const isByWatts = (names: readonly PolicyName[]): boolean => {
  const watts = names.indexOf('watts');
  return watts >= 0 && names.slice(0, watts).every((name) => equalWithinPool.includes(name));
};

const isHealthy = ({ status, metrics }: Machine): boolean =>
  status.attempts === 0 && metrics.health !== 'warning';

const isPlain = ({ example, boxes, make }: Shelf): boolean =>
  !make &&
  example.spec.watts !== undefined &&
  boxes.every(({ members }) => members.every(isHealthy)) &&
  boxes.length > 0;

const idleOf = ({ example }: Shelf): number => example.spec.watts?.idle ?? 0;
const maxOf = ({ example }: Shelf): number => example.spec.watts?.max ?? 0;

function dominates(world: World, one: Shelf, other: Shelf): boolean {
  if (idleOf(one) * clearly > idleOf(other) || maxOf(one) * clearly > maxOf(other)) return false;
  const most = world.sites.ofMachine(one.example).free;
  const least = world.sites.ofMachine(other.example).free;
  for (let column = 0; column < least.length; column++)
    if ((most[column] as number) < (least[column] as number)) return false;
  // Of two with the same room the use of the larger is less, and so are its watts.
  return (one.example.spec.resources.cpu ?? 0) >= (other.example.spec.resources.cpu ?? 0);
}
