import { answerOf, answers } from './fits.ts';
import { askHolds, type NodeClass } from './node-filter.ts';
import type { PodKind } from './pod-class.ts';
import { createRoomTree, type RoomTree } from './room-tree.ts';
import { least } from './spread.ts';
import type { Place, World } from './state.ts';
import { isOwn } from './topology.ts';

/** Places in the order in which they are filled, and a way to find the first that takes a pod. */
export interface PlaceIndex {
  /** The first place, other than `except`, that takes one more such pod. */
  find(kind: PodKind, except?: Place): Place | undefined;
  /** Something was put there, or taken away. */
  changed(place: Place): void;
  /** It is no longer asked. */
  drop(place: Place): void;
  /** While something is only tried, refusals of places that it touches are not kept: what caused them may be taken back. */
  trying<Result>(touched: ReadonlySet<Place>, attempt: () => Result): Result;
}

/** Places of one class in the same domains: they differ by their room and by the pods that are on each. */
interface Alike {
  readonly places: Place[];
  /** Where each stands among all places. */
  readonly positions: number[];
}

interface Cell extends Alike {
  readonly tree: RoomTree;
  readonly skips: Map<number, Skips>;
  /** By size: before this leaf there is no room for pods as large. */
  readonly starts: Map<number, number>;
  /** The same for a few sizes that took long to search for: pods that ask for more need not search there either. */
  readonly bounds: Bound[];
}

interface Bound {
  /** One number per resource, asked for or not. */
  readonly amounts: Float64Array;
  readonly leaf: number;
}

const mostBounds = 8;

/** Where the pods of a family need not be asked again. */
interface Skips {
  /** Per leaf: the next one to ask, itself unless it refused. */
  readonly next: Int32Array;
  /** The level that spread is measured from, when these were found. */
  readonly level: number;
}

export function createPlaceIndex(world: World, places: readonly Place[]): PlaceIndex {
  const cellOf = new Map<Place, { readonly cell: Cell; readonly leaf: number }>();
  const cells = cellsOf(world, places).map(
    (alike): Cell => ({
      ...alike,
      tree: createRoomTree(alike.places.length, world.width),
      skips: new Map(),
      starts: new Map(),
      bounds: [],
    }),
  );
  for (const cell of cells) {
    for (const [leaf, place] of cell.places.entries()) {
      cellOf.set(place, { cell, leaf });
      if (world.closed[place.index] === 0) cell.tree.set(leaf, world.free, place.index * world.width);
    }
  }
  let tried: ReadonlySet<Place> = new Set();

  const findIn = (cell: Cell, kind: PodKind, except: Place | undefined): number => {
    const { tree } = cell;
    if (!tree.mayHave(kind.columns, kind.amounts)) return -1;
    if (!askHolds(kind.ask, world.classOf[(cell.places[0] as Place).index] as NodeClass)) return -1;
    let leaf = firstWithRoom(cell, world.width, kind);
    if (leaf < 0) return -1;
    let skips = skipsOf(cell, kind);
    if (skips) leaf = tree.first(nextOf(skips.next, leaf), kind.columns, kind.amounts);
    while (leaf >= 0) {
      const place = cell.places[leaf] as Place;
      const answer = place === except ? answers.full : answerOf(world, kind, place);
      if (answer === answers.yes) return leaf;
      if (answer === answers.refusedAround || answer === answers.lonelyAround) return -1;
      if ((answer === answers.refusedByPod || answer === answers.unevenHere) && !tried.has(place)) {
        skips ??= createSkips(cell, kind);
        skips.next[leaf] = leaf + 1;
      }
      leaf += 1;
      if (skips) leaf = nextOf(skips.next, leaf);
      leaf = tree.first(leaf, kind.columns, kind.amounts);
    }
    return -1;
  };

  return {
    find(kind, except) {
      if (kind.impossible !== undefined) return undefined;
      let found: Place | undefined;
      let foundAt = Number.POSITIVE_INFINITY;
      for (const cell of cells) {
        if ((cell.positions[0] as number) >= foundAt) break;
        const leaf = findIn(cell, kind, except);
        if (leaf < 0) continue;
        const position = cell.positions[leaf] as number;
        if (position >= foundAt) continue;
        foundAt = position;
        found = cell.places[leaf];
      }
      return found;
    },
    changed(place) {
      const at = cellOf.get(place);
      if (at?.cell.tree.set(at.leaf, world.free, place.index * world.width)) forget(at.cell);
    },
    drop(place) {
      const at = cellOf.get(place);
      if (at) at.cell.tree.clear(at.leaf);
    },
    trying(touched, attempt) {
      const before = tried;
      tried = touched;
      const result = attempt();
      tried = before;
      return result;
    },
  };
}

/** In the order of their first places. */
export function cellsOf(world: World, places: readonly Place[]): Alike[] {
  const shared = Array.from({ length: world.keys }, (_, key) => key).filter((key) => !isOwn(world, key));
  const cells = new Map<string, Alike>();
  for (const [position, place] of places.entries()) {
    let key = `${world.classOf[place.index]?.id}`;
    for (const each of shared) key += ` ${world.domains[place.index * world.keys + each]}`;
    let cell = cells.get(key);
    if (!cell) {
      cell = { places: [], positions: [] };
      cells.set(key, cell);
    }
    cell.places.push(place);
    cell.positions.push(position);
  }
  return [...cells.values()];
}

/** There is more room somewhere. */
function forget({ starts, bounds }: Cell): void {
  starts.clear();
  bounds.length = 0;
}

/** The first leaf with room for a pod. Room only gets less, so a search need not begin where an earlier one failed. */
function firstWithRoom(cell: Cell, width: number, { size, columns, amounts }: PodKind): number {
  let from = cell.starts.get(size);
  if (from === undefined) {
    from = 0;
    for (const { amounts: less, leaf } of cell.bounds)
      if (leaf > from && asksNoMore(less, columns, amounts)) from = leaf;
  }
  const leaf = cell.tree.first(from, columns, amounts);
  const found = leaf < 0 ? cell.tree.size : leaf;
  if (found > from || from === 0) {
    cell.starts.set(size, found);
    if (found > from) keepBound(cell, width, columns, amounts, found);
  }
  return leaf;
}

function keepBound(
  { bounds }: Cell,
  width: number,
  columns: Int32Array,
  amounts: Float64Array,
  leaf: number,
): void {
  let at = bounds.length;
  if (at === mostBounds) {
    at = 0;
    for (let i = 1; i < mostBounds; i++) if ((bounds[i] as Bound).leaf < (bounds[at] as Bound).leaf) at = i;
    if ((bounds[at] as Bound).leaf >= leaf) return;
  }
  const row = new Float64Array(width);
  for (let i = 0; i < columns.length; i++) row[columns[i] as number] = amounts[i] as number;
  bounds[at] = { amounts: row, leaf };
}

/** Whether what was searched for before asks for no more of anything. */
function asksNoMore(less: Float64Array, columns: Int32Array, amounts: Float64Array): boolean {
  let sum = 0;
  for (let i = 0; i < columns.length; i++) {
    const asked = less[columns[i] as number] as number;
    if (asked > (amounts[i] as number)) return false;
    if (asked > 0) sum += 1;
  }
  for (let column = 0; column < less.length; column++) if ((less[column] as number) > 0) sum -= 1;
  return sum === 0;
}

/** Rises only when every domain has one more pod: then what was uneven may no longer be. */
function levelOf({ spread }: PodKind): number {
  let level = 0;
  for (const need of spread) level += least(need);
  return level;
}

function skipsOf({ skips }: Cell, kind: PodKind): Skips | undefined {
  const known = skips.get(kind.family);
  return known && known.level === levelOf(kind) ? known : undefined;
}

function createSkips(cell: Cell, kind: PodKind): Skips {
  const next = Int32Array.from({ length: cell.places.length + 1 }, (_, leaf) => leaf);
  const skips = { next, level: levelOf(kind) };
  cell.skips.set(kind.family, skips);
  return skips;
}

/** The first leaf from here on that has not refused; shortens the way for the next time. */
function nextOf(next: Int32Array, leaf: number): number {
  let end = leaf;
  while (end < next.length && next[end] !== end) end = next[end] as number;
  for (let at = leaf; at < end; ) {
    const then = next[at] as number;
    next[at] = end;
    at = then;
  }
  return end;
}
