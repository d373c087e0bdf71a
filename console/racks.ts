import type { MachineView } from '../shared/view/shapes.ts';

export interface Rack {
  readonly name: string;
  readonly machines: readonly MachineView[];
}

export interface Zone {
  readonly name: string;
  readonly racks: readonly Rack[];
}

const natural = new Intl.Collator('en', { numeric: true });

/** A slice of a remote cluster stands nowhere: it is shown with whoever lends it. */
const lenderOf = ({ offer }: Pick<MachineView, 'offer'>): string | undefined => offer?.split('.')[0];

export const placeOf = (machine: Pick<MachineView, 'offer' | 'zone' | 'rack'>) => ({
  zone: machine.zone ?? (machine.offer === undefined ? undefined : 'remote'),
  rack: machine.rack ?? lenderOf(machine),
});

/** Machines where they stand. What has no rack stands together. */
export function zonesOf(machines: readonly MachineView[]): Zone[] {
  const zones = Map.groupBy(machines, (machine) => placeOf(machine).zone ?? '');
  return inOrder(zones).map(([name, inZone]) => ({
    name,
    racks: inOrder(Map.groupBy(inZone, (machine) => placeOf(machine).rack ?? '')).map(([rack, inRack]) => ({
      name: rack,
      machines: inRack.toSorted((a, b) => natural.compare(a.name, b.name)),
    })),
  }));
}

const inOrder = <Item>(groups: Map<string, Item>): [string, Item][] =>
  [...groups].sort(([a], [b]) => natural.compare(a, b));

/** As people look for them: what serves, what is about to, what does not, and what needs somebody. */
export const stateOrder = [
  'ready',
  'powering-on',
  'joining',
  'draining',
  'powering-off',
  'off',
  'maintenance',
  'error',
];

/** Which states there are, and how many machines are in each. */
export const countsOf = (machines: readonly MachineView[]): [state: string, count: number][] =>
  [...Map.groupBy(machines, ({ state }) => state)]
    .map(([state, inState]): [string, number] => [state, inState.length])
    .sort(([a], [b]) => stateOrder.indexOf(a) - stateOrder.indexOf(b));

/** What somebody typed is looked for in all that names a machine. */
export function matches(machine: MachineView, text: string, state: string): boolean {
  if (state && machine.state !== state) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const { zone, rack } = placeOf(machine);
  const named = [machine.name, machine.pool, rack, zone, machine.state, machine.node.name]
    .join(' ')
    .toLowerCase();
  return words.every((word) => named.includes(word));
}
