import { closePlace, howMany, mark, type Place, put, remove, rollback } from '../world/world.ts';
import { type Chosen, putBack, retake } from './greedy.ts';
import type { Placement } from './pack.ts';
import { createPlaceIndex, type PlaceIndex } from '../world/place-index.ts';
import { enter } from './shelves.ts';
import type { Draft, Study } from './study.ts';
import { isBetter } from './value.ts';

/**
 * Leaves out machines whose pods find places on the others: what is chosen one by one is sometimes one too many. The
 * machines are taken already; those that are left out are put back.
 */
export function dropUnneeded(
  study: Study,
  draft: Draft,
  complete: (study: Study, chosen: readonly Chosen[]) => Draft,
): Draft {
  let current = draft;
  for (;;) {
    const fewer = withoutUnneeded(study, current);
    const dropped = current.chosen.filter((one) => !fewer.includes(one));
    if (dropped.length === 0) return current;
    for (const one of dropped.toReversed()) putBack(study.chooser, one);
    const next = complete(study, fewer);
    const lent = dropped.some(({ machine }) => machine.spec.offer !== undefined);
    const fewerMachines = next.chosen.length < current.chosen.length;
    const serves = next.packing.rest <= current.packing.rest + 1e-9;
    // A slice is cut to its pods: two small ones may cost less than a large one.
    if (serves && fewerMachines && (!lent || isBetter(next.value, current.value))) {
      current = next;
      continue;
    }
    for (const one of next.chosen.slice(fewer.length).toReversed()) putBack(study.chooser, one);
    for (const one of dropped) retake(study.chooser, one);
    return current;
  }
}

/** Those that are needed, in the same order. Leaves the world as it was. */
function withoutUnneeded({ chooser, groups, running, coming }: Study, draft: Draft): Chosen[] {
  const { world } = chooser;
  const { chosen, packing } = draft;
  const start = mark(world);
  const own = new Map<Chosen, Place>();
  for (const one of chosen) {
    const place = enter(world, one.box.shelf.make, one.machine);
    if (!one.addition) own.set(one, place);
  }
  const there = new Map<number, Placement[]>();
  for (const placement of packing.placements) {
    const kind = groups[placement.group]?.kind;
    const place = world.places[placement.place.index];
    if (!kind || !place) continue;
    put(world, kind, place, placement.pods);
    const list = there.get(place.index);
    if (list) list.push(placement);
    else there.set(place.index, [placement]);
  }
  const index = createPlaceIndex(world, [...running, ...coming, ...own.values()]);
  const podsAt = (place: Place): number =>
    (there.get(place.index) ?? []).reduce((sum, { pods }) => sum + pods, 0);
  const fewestFirst = [...own].sort(([, a], [, b]) => podsAt(a) - podsAt(b));
  /** Within a box all are alike: whichever can do without its pods, the last that was taken goes. */
  const drops = new Map<Chosen['box'], number>();
  for (const [one, place] of fewestFirst) {
    const moved = movedAway(place, there.get(place.index) ?? []);
    if (!moved) continue;
    drops.set(one.box, (drops.get(one.box) ?? 0) + 1);
    for (const placement of moved) {
      const list = there.get(placement.place.index);
      if (list) list.push(placement);
      else there.set(placement.place.index, [placement]);
    }
  }
  rollback(world, start);
  return chosen
    .toReversed()
    .filter((one) => {
      const more = one.addition ? 0 : (drops.get(one.box) ?? 0);
      if (more > 0) drops.set(one.box, more - 1);
      return more === 0;
    })
    .reverse();

  /** Where its pods are now; undefined when they cannot all go, and nothing is changed. */
  function movedAway(from: Place, placements: readonly Placement[]): Placement[] | undefined {
    const before = mark(world);
    const touched = new Set<Place>();
    closePlace(world, from);
    index.drop(from);
    for (const { group, pods } of placements) {
      const kind = groups[group]?.kind;
      if (kind) remove(world, kind, from, pods);
    }
    const moved = index.trying(() => moveAll(index, placements, touched));
    if (moved) return moved;
    rollback(world, before);
    for (const place of touched) index.changed(place);
    index.changed(from);
    return undefined;
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
