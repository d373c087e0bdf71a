import type { Pod } from '../cluster/cluster.ts';
import type { Candidate, Intent } from '../decide/decision.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import { bootEnergy } from '../energy/boot-energy.ts';
import { capacityOf, stepOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { because, type Reason } from '../reasons/reason.ts';
import type { Chooser } from '../scale-up/chooser.ts';
import { retake } from '../scale-up/greedy.ts';
import { type Box, head } from '../scale-up/machine-groups.ts';
import { wattsAt } from '../scale-up/policies.ts';
import type { ScaleUp } from '../scale-up/scale-up.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, mark, type Place, rollback, type World } from '../simulate/simulated-cluster.ts';
import { createMover } from './relocate-pods.ts';

interface Server {
  readonly machine: Machine;
  readonly pool: PoolSpec;
  readonly place: Place;
  readonly pods: readonly Pod[];
  readonly use: number;
}

interface Replacement {
  readonly why: Reason;
  readonly intent?: { readonly intent: Intent; readonly candidate: Candidate } | undefined;
}

export interface Replacer {
  /** What takes the machine's place, or nothing. `due`: why it may not go yet. */
  replace(server: Server, due: Reason | undefined): Replacement | undefined;
}

/** Less is not worth a boot and moving pods. */
const leastSaving = 0.1;
/** The boot must have paid for itself by then. */
const paybackMs = 3_600_000;

/**
 * A machine that is hardly used, but whose pods fit nowhere else, is exchanged for one that is off and needs less: the
 * other is powered on first and stays empty until it is Ready; then the first one's pods fit there, and it is drained.
 */
export function createReplacer(situation: Situation, world: World, up: ScaleUp): Replacer {
  const { settings, members } = situation;
  const busyPools = new Set<string>();
  for (const { machine } of up.chosen) busyPools.add(machine.spec.pool);
  const arriving = (pool: string): Place[] =>
    world.places.filter(
      ({ machine, index }) =>
        machine?.spec.pool === pool && capacityOf(machine) === 'coming' && world.closed[index] === 0,
    );
  const running = world.places.filter(({ node, index }) => node?.ready && world.closed[index] === 0);

  const fitsWith = (server: Server, others: readonly Place[]): boolean => {
    const before = mark(world);
    const moved = createMover(world, [...running, ...others]).empty(server.place, server.pods);
    rollback(world, before);
    return 'to' in moved;
  };

  return {
    replace(server, due) {
      // Waiting pods come first: one more node may change where they may go.
      if (!settings.replace || server.pods.length === 0 || up.unmet.length > 0 || up.promised.length > 0)
        return undefined;
      const { machine, pool } = server;
      const coming = arriving(pool.name);
      if (coming.length > 0 && fitsWith(server, coming))
        return { why: { code: 'fits-on-coming', on: coming.map(({ name }) => name) } };
      if (coming.length > 0 || busyPools.has(pool.name) || !machine.spec.watts) return undefined;
      const box = thriftiest(up.chooser, server);
      if (!box) return undefined;
      const other = head(box.box);
      if (!other) return undefined;
      const before = mark(world);
      const place = addMachine(world, other);
      const fits = fitsWith(server, [place]);
      rollback(world, before);
      if (!fits) return undefined;
      const name = other.spec.name;
      if (due) return { why: { code: 'replacement-waits', by: name, because: due } };
      if ((members.get(pool.name) ?? []).some((member) => stepOf(member) === 'drain-node'))
        return { why: { code: 'replacement-after-drains', by: name } };
      retake(up.chooser, { machine: other, box: box.box, pods: 0, score: {} });
      busyPools.add(pool.name);
      const { watts, instead } = box;
      const why = because({ code: 'replaces', machine: machine.spec.name, watts, instead });
      return {
        why: { code: 'replaced-by', by: [name] },
        intent: {
          intent: { kind: 'power-on', machine: name, ...why },
          candidate: { machine: name, verdict: 'power-on', ...why, watts: other.spec.watts?.max },
        },
      };
    },
  };
}

/** The one that would draw least under the same load, where that is worth it. */
function thriftiest(
  { shelves, room, surroundings }: Chooser,
  { machine, pool, use }: Server,
): { readonly box: Box; readonly watts: number; readonly instead: number } | undefined {
  const load = use * (machine.spec.resources.cpu ?? 0);
  const instead = wattsAt(machine.spec, use, surroundings.usualWatts);
  let best: { box: Box; watts: number; instead: number } | undefined;
  for (const shelf of shelves) {
    if (shelf.pool !== pool || shelf.make || !shelf.example.spec.watts) continue;
    const watts = wattsAt(shelf.example.spec, load / (shelf.example.spec.resources.cpu || 1), 0);
    const saving = instead - watts;
    if (saving < leastSaving * instead || bootEnergy(shelf.example) > saving * paybackMs) continue;
    for (const box of shelf.boxes) {
      const next = head(box);
      if (next && room.refusal(next.spec) === undefined && (!best || watts < best.watts))
        best = { box, watts, instead };
    }
  }
  return best;
}
