import type { Machine } from '../../shared/core/machine/machine.ts';
import type { Spot } from './board.ts';
import type { Shape } from './book.ts';
import type { Case } from './case.ts';
import { hasRoom, misfits, staticMisfit } from './fit.ts';
import type { Rule } from './rule.ts';

/** Machines that are off and that every pod and every limit judge alike. */
export interface SpareKind {
  readonly example: Machine;
  readonly machines: readonly Machine[];
  readonly spot: Spot;
  /** Limits keep it off. */
  readonly refused: boolean;
}

export interface Spares {
  readonly kinds: readonly SpareKind[];
  readonly kindOf: ReadonlyMap<string, SpareKind>;
  /** The rules, room apart, that keep the pod from the machine were it on and empty beside all that is on the board. */
  misfits(shape: Shape, kind: SpareKind): ReadonlySet<Rule>;
  /** Nothing keeps the pod from such a machine. */
  fits(shape: Shape, kind: SpareKind): boolean;
}

const hostname = 'kubernetes.io/hostname';

/** To be made when every assigned pod is on the board. */
export function createSpares({ board, book, source, spare, limits }: Case): Spares {
  const shared = book.social.keys.flatMap((key, index) => (key === hostname ? [] : [index]));
  const domainText = ({ domains }: Spot): string => shared.map((index) => domains[index]).join();
  const groups = new Map<string, { example: Machine; machines: Machine[]; spot: Spot; refused: boolean }>();
  const kindOf = new Map<string, SpareKind>();
  for (const machine of spare) {
    const spot = board.draft(source.ofMachine(machine));
    const { pool, rack, powerCircuit, resources } = machine.spec;
    const size = `${resources.cpu} ${resources.memory}`;
    const text = `${spot.classId}|${spot.free.join()}|${domainText(spot)}|${pool}|${rack}|${powerCircuit}|${size}`;
    let group = groups.get(text);
    if (!group) {
      group = { example: machine, machines: [], spot, refused: limits.refusals(machine.spec).length > 0 };
      groups.set(text, group);
    }
    group.machines.push(machine);
    kindOf.set(machine.spec.name, group);
  }
  const known = new Map<string, ReadonlySet<Rule>>();
  const misfitsOf: Spares['misfits'] = (shape, { spot }) => {
    const text = `${shape.manners}|${spot.classId}|${domainText(spot)}`;
    let found = known.get(text);
    if (!found) {
      // A node of the same name that is away gives way to the machine.
      const away = board.spots.get(spot.facts.name);
      board.add(spot);
      found = misfits(board, shape, spot);
      board.remove(spot);
      if (away) board.spots.set(spot.facts.name, away);
      known.set(text, found);
    }
    return found;
  };
  return {
    kinds: [...groups.values()],
    kindOf,
    misfits: misfitsOf,
    fits: (shape, kind) =>
      hasRoom(shape, kind.spot.free) &&
      staticMisfit(board, shape, kind.spot) === undefined &&
      (shape.plain || misfitsOf(shape, kind).size === 0),
  };
}
