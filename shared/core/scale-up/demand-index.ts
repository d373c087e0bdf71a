import type { Group } from '../decide/demand.ts';
import { createRoomTree, type RoomTree } from '../simulate/room-tree.ts';
import type { PodKind, World } from '../simulate/simulated-cluster.ts';
import type { Order } from './orders.ts';
import type { Left } from './pack.ts';

/** Groups of pods that differ in nothing but their size, in the order in which they are given places. */
export interface Family {
  /** One of them: rules are the same for all. */
  readonly group: Group;
  /** Indexes of groups. */
  readonly groups: readonly number[];
  /** Where each stands in the order. */
  readonly ranks: readonly number[];
  readonly tree: RoomTree;
}

/** Pods that are still without a place, indexed so that what fits into some room is found without asking all. */
export interface DemandIndex {
  /** In the order of their first groups. */
  readonly families: readonly Family[];
  /** The first group of a family from `start` on that fits into the free row; -1 when there is none. */
  first(family: Family, start: number, free: Float64Array, row: number): number;
  /** So many pods of a group have a place now. */
  placed(group: number, pods: number): void;
  /** Whether the row has too little room for even the smallest pod. */
  isFull(free: Float64Array, row: number): boolean;
}

export function createDemandIndex(
  world: World,
  groups: readonly Group[],
  order: Order,
  left: Left,
): DemandIndex {
  const { width } = world;
  const members = new Map<string, { group: Group; groups: number[]; ranks: number[] }>();
  const smallest = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
  const row = new Float64Array(width);
  /** With its sign turned; what is not asked for may be short. */
  const asked = ({ columns, amounts }: PodKind): Float64Array => {
    row.fill(Number.POSITIVE_INFINITY);
    for (let i = 0; i < columns.length; i++) row[columns[i] as number] = -(amounts[i] as number);
    return row;
  };
  for (const [rank, index] of order.entries()) {
    const group = groups[index];
    if (!group || (left[index] ?? 0) <= 0 || group.kind.impossible !== undefined) continue;
    const key = `${group.kind.family} ${group.age}`;
    let family = members.get(key);
    if (!family) {
      family = { group, groups: [], ranks: [] };
      members.set(key, family);
    }
    family.groups.push(index);
    family.ranks.push(rank);
    const wanted = asked(group.kind);
    for (let column = 0; column < width; column++)
      smallest[column] = Math.min(smallest[column] as number, -(wanted[column] as number));
  }
  const at = new Map<number, { readonly family: Family; readonly leaf: number }>();
  const families = [...members.values()].map((each): Family => {
    // With the sign turned the tree finds the first that asks for no more than there is.
    const tree = createRoomTree(each.groups.length, width);
    const family = { ...each, tree };
    for (const [leaf, index] of each.groups.entries()) {
      tree.set(leaf, asked((groups[index] as Group).kind), 0);
      at.set(index, { family, leaf });
    }
    return family;
  });
  const columns = Int32Array.from({ length: width }, (_, column) => column);
  const bound = new Float64Array(width);
  return {
    families,
    first({ tree }, start, free, from) {
      for (let column = 0; column < width; column++) bound[column] = -(free[from + column] as number);
      return tree.first(start, columns, bound);
    },
    placed(group, pods) {
      left[group] = (left[group] ?? 0) - pods;
      const there = at.get(group);
      if (there && (left[group] ?? 0) <= 0) there.family.tree.clear(there.leaf);
    },
    isFull(free, from) {
      for (let column = 0; column < width; column++)
        if ((free[from + column] as number) < (smallest[column] as number)) return true;
      return false;
    },
  };
}
