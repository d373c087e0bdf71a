import type { MachineView } from '../functions/api/shapes.ts';

export interface Rack {
  readonly name: string;
  readonly machines: readonly MachineView[];
}

export interface Zone {
  readonly name: string;
  readonly racks: readonly Rack[];
}

const natural = new Intl.Collator('en', { numeric: true });

/** Machines where they stand. What has no rack stands together. */
export function zonesOf(machines: readonly MachineView[]): Zone[] {
  const zones = Map.groupBy(machines, ({ zone }) => zone ?? '');
  return inOrder(zones).map(([name, inZone]) => ({
    name,
    racks: inOrder(Map.groupBy(inZone, ({ rack }) => rack ?? '')).map(([rack, inRack]) => ({
      name: rack,
      machines: inRack.toSorted((a, b) => natural.compare(a.name, b.name)),
    })),
  }));
}

const inOrder = <Item>(groups: Map<string, Item>): [string, Item][] =>
  [...groups].sort(([a], [b]) => natural.compare(a, b));

/** What somebody typed is looked for in all that names a machine. */
export function matches(machine: MachineView, text: string, state: string): boolean {
  if (state && machine.state !== state) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const named = [machine.name, machine.pool, machine.rack, machine.zone, machine.state, machine.node.name]
    .join(' ')
    .toLowerCase();
  return words.every((word) => named.includes(word));
}
