import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Place, World } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import type { Server } from './round.ts';

/**
 * Who is asked to leave first: slices that have to go back, for they need the room that others would leave empty; then
 * whoever disturbs fewest pods.
 */
export function inTurn(goesBack: (machine: string) => boolean): (a: Server, b: Server) => number {
  const urgency = ({ machine }: Server): number => (goesBack(machine.spec.name) ? 1 : 0);
  const watts = ({ machine }: Server): number => machine.spec.watts?.idle ?? 0;
  return (a, b) =>
    urgency(b) - urgency(a) ||
    a.pods.length - b.pods.length ||
    lentFor(b.machine) - lentFor(a.machine) ||
    watts(b) - watts(a) ||
    a.use - b.use ||
    byText(a.machine.spec.name, b.machine.spec.name);
}

/** What is lent goes before one's own, and the dearer first. */
const lentFor = ({ spec }: Machine): number =>
  spec.offer === undefined ? -1 : (spec.pricing?.hourlyRate ?? 0);

/** Nodes that stay come first, then those that would go last: so the pods of many end up on few. */
export function targetsOf(world: World, servers: readonly Server[]): Place[] {
  const rank = new Map(servers.map(({ place }, index) => [place, servers.length - index]));
  return world.places
    .filter(({ index, node, machine }) => {
      const running = node?.ready && !(machine && capacityOf(machine) === 'coming');
      return running && world.closed[index] === 0;
    })
    .sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0) || byText(a.name, b.name));
}
