import type { Group } from '../decide/demand.ts';
import { podName } from '../decide/snapshot.ts';
import { createPlaceIndex, type PlaceIndex } from '../simulate/place-index.ts';
import {
  howMany,
  leavePlace,
  looksAround,
  mark,
  type Place,
  type PodKind,
  put,
  remove,
  rollback,
  tried,
} from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { type Chosen, putBack, retake } from './greedy.ts';
import { enter } from './machine-groups.ts';
import type { Placement } from './pack.ts';
import { isBetter, worthOf } from './plan-cost.ts';
import type { Draft, Study } from './planning-context.ts';

/**
 * Leaves out machines whose pods find places on the others: what is chosen one by one is sometimes one too many. The
 * machines are taken already; those that are left out are put back.
 */
export function dropUnneeded(
  study: Study,
  draft: Draft,
  complete: (study: Study, chosen: readonly Chosen[]) => Draft,
): Draft {
  const { chooser } = study;
  let current = draft;
  let most = Number.POSITIVE_INFINITY;
  const needed = new Set<Chosen>();
  for (;;) {
    const emptied = new Set<Chosen>();
    const fewer = withoutUnneeded(study, current, needed, most, emptied);
    const dropped = current.chosen.filter((one) => !fewer.chosen.includes(one));
    if (dropped.length === 0) return current;
    const next = withThose(fewer, dropped);
    if (next) {
      current = next;
      continue;
    }
    // Not all of them at once, then: one fewer at a time, and those that cannot be missed stay.
    if (most === 1) for (const one of emptied) needed.add(one);
    if (needed.size > mostNeeded) return current;
    most = 1;
  }

  /** The machines that are left, packed anew or as they are; undefined where that may not be. */
  function withThose(fewer: Draft, dropped: readonly Chosen[]): Draft | undefined {
    const lent = dropped.some(({ machine }) => machine.spec.offer !== undefined);
    // A slice is cut to its pods: two small ones may cost less than a large one.
    if (lent && !isBetter(fewer.value, current.value)) return undefined;
    for (const one of dropped.toReversed()) putBack(chooser, one);
    if (most > 1 || study.looks.left > 0) {
      const packed = complete(study, fewer.chosen);
      const more = packed.chosen.slice(fewer.chosen.length);
      if (more.length === 0 && packed.packing.rest <= fewer.packing.rest + 1e-9) return packed;
      for (const one of more.toReversed()) putBack(chooser, one);
    }
    // Packed in the usual order they do not fit as well: everybody stays where there is room now, if that may be.
    if (holds(study, fewer)) return fewer;
    for (const one of dropped) retake(chooser, one);
    return undefined;
  }
}

/** So many machines are looked at one by one. */
const mostNeeded = 8;

/** The machines that are needed, in the same order, with everybody on them. Leaves the world as it was. */
function withoutUnneeded(
  study: Study,
  draft: Draft,
  needed: ReadonlySet<Chosen>,
  most: number,
  emptied: Set<Chosen>,
): Draft {
  const { chooser, groups, running, coming, share } = study;
  const { world } = chooser;
  const { chosen, packing } = draft;
  const start = mark(world);
  const own = new Map<Chosen, Place>();
  for (const one of chosen) {
    const place = enter(world, one.box.shelf.make, one.machine);
    if (!one.addition) own.set(one, place);
  }
  const there = new Map<number, Placement[]>();
  /** In the order in which they may be put: what is moved comes last. */
  const turn = new Map<Placement, number>();
  const note = (placement: Placement): void => {
    turn.set(placement, turn.size);
    const list = there.get(placement.place.index);
    if (list) list.push(placement);
    else there.set(placement.place.index, [placement]);
  };
  for (const placement of packing.placements) {
    const kind = groups[placement.group]?.kind;
    const place = world.places[placement.place.index];
    if (!kind || !place) continue;
    put(world, kind, place, placement.pods);
    note({ ...placement, place });
  }
  const index = createPlaceIndex(world, [...running, ...coming, ...own.values()]);
  const podsAt = (place: Place): number =>
    (there.get(place.index) ?? []).reduce((sum, { pods }) => sum + pods, 0);
  const fewestFirst = [...own].sort(([, a], [, b]) => podsAt(a) - podsAt(b));
  const sizeOf = ({ group }: Placement): number => share[group] ?? 0;
  const orders: readonly ((a: Placement, b: Placement) => number)[] = [
    (a, b) => sizeOf(b) - sizeOf(a),
    (a, b) => sizeOf(a) - sizeOf(b),
    (a, b) => byText(podName((groups[a.group] as Group).first), podName((groups[b.group] as Group).first)),
  ];
  for (const [one, place] of fewestFirst) {
    if (emptied.size >= most) break;
    if (needed.has(one)) continue;
    const moved = movedAway(place, there.get(place.index) ?? []);
    if (!moved) continue;
    emptied.add(one);
    there.delete(place.index);
    for (const placement of moved) note(placement);
  }
  rollback(world, start);
  if (emptied.size === 0) return draft;
  const whole = [...there.values()].flat().sort((a, b) => (turn.get(a) ?? 0) - (turn.get(b) ?? 0));
  return withoutThose(study, draft, emptied, whole, own);

  /** Where its pods are now; undefined when they cannot all go, and nothing is changed. */
  function movedAway(from: Place, placements: readonly Placement[]): Placement[] | undefined {
    const before = mark(world);
    const touched = new Set<Place>();
    for (const { group, pods } of placements) {
      const kind = groups[group]?.kind;
      if (kind) remove(world, kind, from, pods);
    }
    leavePlace(world, from);
    index.drop(from);
    const emptied = mark(world);
    for (const order of placements.every(hasPlace) ? orders : []) {
      const moved = index.trying(touched, () => moveAll(index, placements.toSorted(order), touched));
      if (moved) return moved;
      rollback(world, emptied);
      for (const place of touched) index.changed(place);
    }
    rollback(world, before);
    index.changed(from);
    return undefined;
  }

  /** Whether one pod by itself would find a place: most machines are needed because one of theirs does not. */
  function hasPlace({ group }: Placement): boolean {
    const { kind } = groups[group] as Group;
    return kind.affinity !== undefined || index.find(kind) !== undefined;
  }

  function moveAll(
    places: PlaceIndex,
    placements: readonly Placement[],
    touched: Set<Place>,
  ): Placement[] | undefined {
    const moved: Placement[] = [];
    for (const { group, pods } of placements) {
      const kind = groups[group]?.kind;
      if (!kind) continue;
      for (let waiting = pods; waiting > 0; ) {
        const place = places.find(kind);
        if (!place) return undefined;
        const count = howMany(world, kind, place, waiting);
        put(world, kind, place, count);
        places.changed(place);
        touched.add(place);
        moved.push({ group, place, pods: count });
        waiting -= count;
      }
    }
    return moved;
  }
}

/** Whether the pods can be put where the draft has them, one after the other in some order. */
export function holds({ chooser, groups }: Study, { chosen, packing }: Draft): boolean {
  const { world } = chooser;
  const all = packing.placements.filter(({ group }) => groups[group]);
  const kindAt = ({ group }: Placement): PodKind => (groups[group] as Group).kind;
  const social = all.filter((each) => looksAround(kindAt(each)));
  const plain = all.filter((each) => !looksAround(kindAt(each)));
  const tries = [
    [...all],
    [...social, ...plain],
    [...plain, ...social],
    [...plain.toReversed(), ...social.toReversed()],
    [...social.toReversed(), ...plain],
  ];
  return tried(world, () => {
    for (const one of chosen) enter(world, one.box.shelf.make, one.machine);
    return tries.some((order) => tried(world, () => canBePlaced(order)));
  });

  function canBePlaced(order: readonly Placement[]): boolean {
    let waiting = order.map((each) => ({ ...each }));
    for (let progress = true; progress && waiting.length > 0; ) {
      progress = false;
      waiting = waiting.filter((each) => {
        const place = world.places[each.place.index] as Place;
        const count = howMany(world, kindAt(each), place, each.pods);
        put(world, kindAt(each), place, count);
        if (count > 0) progress = true;
        each.pods -= count;
        return each.pods > 0;
      });
    }
    return waiting.length === 0;
  }
}

/**
 * Without the machines that were emptied. Within a box all are alike and the first ones are taken first: whoever was
 * on a later one is on an earlier one then.
 */
function withoutThose(
  study: Study,
  { chosen, packing }: Draft,
  emptied: ReadonlySet<Chosen>,
  placements: readonly Placement[],
  own: ReadonlyMap<Chosen, Place>,
): Draft {
  const { world } = study.chooser;
  const ofBox = Map.groupBy(own.keys(), ({ box }) => box);
  const insteadOf = new Map<Chosen, Chosen>();
  for (const all of ofBox.values())
    for (const [at, one] of all.filter((each) => !emptied.has(each)).entries())
      insteadOf.set(all[at] as Chosen, one);
  const kept = chosen.filter((one) => one.addition || insteadOf.has(one));
  const placeNow = tried(world, () => {
    const now = new Map<number, Place>();
    for (const one of kept) {
      const place = enter(world, one.box.shelf.make, one.machine);
      const before = own.get(insteadOf.get(one) ?? one);
      if (before) now.set(before.index, place);
    }
    return now;
  });
  const moved = placements.map((each) => ({ ...each, place: placeNow.get(each.place.index) ?? each.place }));
  const whole = { ...packing, placements: moved };
  return { chosen: kept, packing: whole, value: worthOf(study, kept, whole) };
}
