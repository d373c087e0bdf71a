import type { Pod } from '../cluster/cluster.ts';
import type { Candidate, Intent } from '../decide/decision.ts';
import type { Group } from '../decide/demand.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import { podName } from '../decide/snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import { because, type Reason } from '../reasons/reason.ts';
import type { Round, Server } from '../scale-down/round.ts';
import { chooseFor, putBack } from '../scale-up/greedy.ts';
import { intentOf, priceOf } from '../scale-up/intent.ts';
import { everyone, pack } from '../scale-up/pack.ts';
import type { ScaleUp } from '../scale-up/scale-up.ts';
import { measure } from '../scale-up/sizes.ts';
import { demandOf } from '../scale-up/try-machine.ts';
import {
  closePlace,
  kindOf,
  mark,
  type Place,
  type PodKind,
  remove,
  rollback,
  type World,
} from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { overBudget, type Withdrawal, withdrawals } from './slice-rules.ts';

/** The outcome for a slice that should be returned. */
interface GivenBack {
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
}

/** What scale-down knows about moving the pods of a machine. Each says why not, or nothing. */
interface Moves {
  readonly needed: () => Reason | undefined;
  readonly limited: () => Reason | undefined;
  readonly moveAway: (leaves: boolean) => Reason | undefined;
}

interface Due extends Withdrawal {
  /** It is beyond the budget. */
  readonly tooDear?: Reason | undefined;
}

/** Every slice that should be returned, and why. */
export function slicesToGoBack(situation: Situation): ReadonlyMap<string, Due> {
  const beyond = overBudget(situation);
  const due = new Map<string, Due>(withdrawals(situation));
  for (const [name, tooDear] of beyond) due.set(name, { why: tooDear, ...due.get(name), tooDear });
  return due;
}

export interface Withdrawer {
  /** Undefined: nothing is wrong with it. */
  giveBack(server: Server, moves: Moves): GivenBack | undefined;
}

/**
 * A slice whose offer is no longer what it was is given back once its pods have a place elsewhere, and something is
 * powered on or lent for them where there is none. Where nothing can be had it stays: an offer that has ended is no
 * reason to lose pods that its provider still runs. Only what is beyond the budget goes in any case.
 */
export function createWithdrawer(round: Round, up: ScaleUp, withdrawn: ReadonlyMap<string, Due>): Withdrawer {
  const { world, promised } = round;
  const coming = (): Place[] =>
    world.places.filter(
      ({ machine, index }) => machine && capacityOf(machine) === 'coming' && world.closed[index] === 0,
    );

  return {
    giveBack(server, { needed, limited, moveAway }) {
      const { name } = server.machine.spec;
      const due = withdrawn.get(name);
      if (!due) return undefined;
      const { why, tooDear } = due;
      const stays = (so: Reason): GivenBack => ({
        intents: [],
        candidates: [
          { machine: name, verdict: 'kept', ...because({ code: 'slice-stays', due: why, because: so }) },
        ],
      });
      const goes = (pods: number, also?: Reason): GivenBack => {
        const told = because({ code: 'slice-returns', due: why, pods, also });
        return {
          intents: [{ kind: 'drain', machine: name, ...told }],
          candidates: [{ machine: name, verdict: 'drain', ...told }],
        };
      };
      const no = needed();
      if (no !== undefined) return stays(no);
      const limit = limited();
      const stuck = moveAway(limit === undefined);
      if (stuck === undefined) return limit === undefined ? goes(server.pods.length) : stays(limit);
      if (round.budgets.use(server.pods)) return stays(stuck);
      round.budgets.giveBack(server.pods);
      if (tooDear === undefined)
        return replace(server, due, stays) ?? stays({ code: 'nothing-else-holds-pods' });
      if (limit !== undefined) return stays(limit);
      round.departures.take(server.machine);
      closePlace(world, server.place);
      return goes(0, tooDear === why ? undefined : tooDear);
    },
  };

  /** Room elsewhere for its pods: on its way already, or to be powered on or lent now. */
  function replace(server: Server, { price }: Due, stays: (so: Reason) => GivenBack): GivenBack | undefined {
    const groups = groupsOf(world, server.pods);
    const before = mark(world);
    closePlace(world, server.place);
    for (const { kind, pods } of groups) remove(world, kind, server.place, pods.length);
    const running = world.places.filter(({ node, index }) => node?.ready && world.closed[index] === 0);
    const left = everyone(groups);
    const order = groups.map((_, index) => index);
    const placements = pack(world, groups, order, [...running, ...coming()], left);
    const { share } = measure(
      groups,
      up.chooser.shelves.map(({ example }) => example.spec.resources),
    );
    // More of the same is no way out.
    const shelves = up.chooser.shelves.filter(
      ({ make }) => make?.lending?.offer.id !== server.machine.spec.offer,
    );
    const demand = demandOf(world, groups, order, left, share, () => true);
    const chosen = chooseFor({ ...up.chooser, shelves }, demand);
    const worse = price !== undefined && chosen.reduce((sum, one) => sum + (priceOf(one) ?? 0), 0) >= price;
    if (worse || left.some((pods) => pods > 0)) {
      for (const one of chosen.toReversed()) putBack(up.chooser, one);
      rollback(world, before);
      return undefined;
    }
    for (const { place } of placements) promised.add(place);
    for (const { box } of chosen) {
      const grows = box.shelf.make?.lending?.grows;
      if (grows) promised.add(grows.place);
    }
    const names = chosen.map(({ machine }) => machine.spec.name);
    if (names.length === 0) {
      const expected = [...new Set(placements.map(({ place }) => place.name))].sort(byText);
      return stays({ code: 'fits-on-coming', on: expected });
    }
    const why: Reason = { code: 'replaces', machine: server.machine.spec.name };
    const intents = chosen.map((one) => intentOf(one, why));
    const { candidates } = stays({ code: 'replaced-by', by: names });
    return {
      intents,
      candidates: [
        ...candidates,
        ...intents.map(({ kind, machine, why: told, reason }, index) => ({
          machine,
          verdict: kind,
          why: told,
          reason,
          ...(chosen[index] && { price: priceOf(chosen[index]), score: chosen[index].score }),
        })),
      ],
    };
  }
}

/** The pods of a node as if they waited: all of them may ask for a machine at once. */
function groupsOf(world: World, pods: readonly Pod[]): Group[] {
  const byKind = new Map<PodKind, Pod[]>();
  for (const pod of pods) {
    const kind = kindOf(world, pod);
    byKind.set(kind, [...(byKind.get(kind) ?? []), pod]);
  }
  return [...byKind]
    .flatMap(([kind, list]) => {
      const [first] = list.toSorted((a, b) => byText(podName(a), podName(b)));
      return first ? [{ kind, pods: list, first, age: 0 }] : [];
    })
    .sort((a, b) => byText(podName(a.first), podName(b.first)));
}
