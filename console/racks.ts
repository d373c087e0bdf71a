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

/** A slice of a remote cluster stands nowhere: it is shown with its provider. */
const providerOf = ({ offer }: Pick<MachineView, 'offer'>): string | undefined => offer?.split('.')[0];

export const placeOf = (machine: Pick<MachineView, 'offer' | 'zone' | 'rack'>) => ({
  zone: machine.zone ?? (machine.offer === undefined ? undefined : 'remote'),
  rack: machine.rack ?? providerOf(machine),
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

/** What serves, what is about to, what does not, and what needs a person. */
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

/** Every word of the text is searched in all that names a machine. */
export function matches(machine: MachineView, text: string, state: string): boolean {
  if (state && machine.state !== state) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const { zone, rack } = placeOf(machine);
  const named = [machine.name, machine.pool, rack, zone, machine.state, machine.node.name]
    .join(' ')
    .toLowerCase();
  return words.every((word) => named.includes(word));
}

/** A machine and the rows that it takes, the first one at the top. */
interface Slot {
  readonly machine: MachineView;
  readonly row: number;
  readonly rows: number;
}

export interface Layout {
  /** Rows of the rack; numbered from the bottom where positions are known. */
  readonly rows: number;
  readonly numbered: boolean;
  readonly slots: readonly Slot[];
}

/** Racks are sold in these heights. */
const usualHeights = [6, 12, 18, 24, 42, 48];

/** Where the inventory knows units, machines stand at their units; those without one come below. Otherwise in order. */
export function layoutOf(machines: readonly MachineView[]): Layout {
  const placed = machines.filter(({ rackUnit }) => rackUnit !== undefined);
  if (placed.length === 0)
    return {
      rows: machines.length,
      numbered: false,
      slots: machines.map((machine, index) => ({ machine, row: index + 1, rows: 1 })),
    };
  const heightOf = ({ rackHeight = 1 }: MachineView): number => Math.max(1, rackHeight);
  const top = Math.max(...placed.map((machine) => (machine.rackUnit ?? 1) + heightOf(machine) - 1));
  const units = usualHeights.find((height) => height >= top) ?? top;
  const rest = machines.filter(({ rackUnit }) => rackUnit === undefined);
  return {
    rows: units + rest.length,
    numbered: true,
    slots: [
      ...placed.map((machine) => ({
        machine,
        row: units - ((machine.rackUnit ?? 1) + heightOf(machine) - 1) + 1,
        rows: heightOf(machine),
      })),
      ...rest.map((machine, index) => ({ machine, row: units + index + 1, rows: 1 })),
    ],
  };
}

export const tallest = (zones: readonly Zone[]): number =>
  Math.max(1, ...zones.flatMap(({ racks }) => racks.map(({ machines }) => layoutOf(machines).rows)));

/** How much a row can say: everything, a line, the name, or a colour alone. */
export type Detail = 'full' | 'line' | 'name' | 'colour';

export interface Density {
  readonly detail: Detail;
  readonly rowPx: number;
}

/** The more machines and the taller the racks, the less each one says: the whole must fit a screen. */
export function densityOf(machines: number, rows: number): Density {
  if (machines > 400) return { detail: 'colour', rowPx: 6 };
  if (rows <= 9 && machines <= 60) return { detail: 'full', rowPx: 48 };
  if (rows <= 24) return { detail: 'line', rowPx: 25 };
  return { detail: 'name', rowPx: 17 };
}

/** Names without what all machines of a rack share; longer ones lose their beginning, and say so. */
export function shortNames(names: readonly string[], most: number): ReadonlyMap<string, string> {
  const shared = names.length > 1 ? sharedStart(names) : 0;
  return new Map(
    names.map((name) => {
      const rest = name.length <= most ? name : name.slice(shared);
      return [name, rest.length <= most ? rest : `…${rest.slice(1 - most)}`];
    }),
  );
}

/** How long the beginning is that all names share, up to a separator. */
function sharedStart(names: readonly string[]): number {
  const [first = '', ...others] = names;
  let length = 0;
  while (length < first.length && others.every((name) => name[length] === first[length])) length += 1;
  while (length > 0 && /[a-z0-9]/i.test(first[length - 1] ?? '')) length -= 1;
  return length;
}
