import { askHolds, type NodeClass } from '../simulate/node-filter.ts';
import { cellsOf } from '../simulate/place-index.ts';
import type { Place, PodKind, World } from '../simulate/simulated-cluster.ts';
import type { PodCount } from './relocate-pods.ts';

/** Up to so many evicted pods no slack is needed: every order that matters is tried. */
const fewPods = 1_000;
/** How much of the room may be used by more pods than that, … */
const mostOfRoom = 0.97;
/** … and by so many that those which mind no other pods are not tried one by one. */
export const manyPods = 6_000;
const mostOfRoomForMany = 0.9;

/** A node that is to be emptied, and how many pods of each kind are evicted from it. */
export interface Emptied {
  readonly place: Place;
  readonly counts: readonly PodCount[];
}

/** Nodes of some classes, and the pods that may go to no others. */
interface Section {
  /** Per cell: whether its nodes are part of it. */
  readonly cells: readonly boolean[];
  readonly free: Float64Array;
  readonly asked: Float64Array;
}

/**
 * How many of the nodes, the first ones of the list, can leave so that enough room stays free wherever their pods may
 * go. Nodes that would be filled to the brim leave a pod over in some order of creation.
 */
export function mostWithSlack(world: World, targets: readonly Place[], leaving: readonly Emptied[]): number {
  const { width } = world;
  const cells = cellsOf(world, targets);
  const cellOf = new Map<Place, number>();
  for (const [cell, { places }] of cells.entries()) for (const place of places) cellOf.set(place, cell);
  const sections = new Map<string, Section>();
  const change = (sums: Float64Array, { index }: Place, sign: 1 | -1): void => {
    for (let column = 0; column < width; column++)
      sums[column] =
        (sums[column] as number) + sign * Math.max(0, world.free[index * width + column] as number);
  };
  const sectionFor = ({ ask }: PodKind): Section => {
    const allowed = cells.map(({ places: [first] }) =>
      first ? askHolds(ask, world.classOf[first.index] as NodeClass) : false,
    );
    const known = sections.get(allowed.join());
    if (known) return known;
    const section = { cells: allowed, free: new Float64Array(width), asked: new Float64Array(width) };
    for (const [cell, { places }] of cells.entries())
      if (allowed[cell]) for (const place of places) change(section.free, place, 1);
    sections.set(allowed.join(), section);
    return section;
  };
  /** By number of kind. */
  const sectionOf: Section[] = [];
  for (const { counts } of leaving) for (const { kind } of counts) sectionOf[kind.id] ??= sectionFor(kind);
  const all = [...sections.values()];
  const around = new Map(
    all.map((inner) => [
      inner,
      all.filter((outer) => inner.cells.every((part, cell) => !part || outer.cells[cell])),
    ]),
  );
  /** By number of kind: every section that all nodes for such pods are part of. */
  const affected = sectionOf.map((section) => around.get(section) ?? []);

  let pods = 0;
  for (const [most, { place, counts }] of leaving.entries()) {
    const cell = cellOf.get(place);
    for (const { cells: parts, free } of all) if (cell !== undefined && parts[cell]) change(free, place, -1);
    for (const { kind, pods: count } of counts) {
      pods += count;
      for (const { asked } of affected[kind.id] ?? [])
        for (let at = 0; at < kind.columns.length; at++) {
          const column = kind.columns[at] as number;
          asked[column] = (asked[column] as number) + count * (kind.amounts[at] as number);
        }
    }
    const share = pods > manyPods ? mostOfRoomForMany : pods > fewPods ? mostOfRoom : Infinity;
    for (const { asked, free } of all)
      for (let column = 0; column < width; column++)
        if ((asked[column] as number) > (free[column] as number) * share) return most;
  }
  return leaving.length;
}
