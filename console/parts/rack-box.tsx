import type { MachineView } from '../../shared/view/shapes.ts';
import { hourly, watts } from '../format.ts';
import type { Rack } from '../racks.ts';
import { Unit } from './unit.tsx';

/** What they draw; of what is lent, what it costs. */
function costOf(machines: readonly MachineView[]): string {
  const sum = (of: (machine: MachineView) => number | undefined) =>
    machines.reduce((total, machine) => total + (of(machine) ?? 0), 0);
  return machines.every(({ offer }) => offer !== undefined)
    ? hourly(sum(({ hourlyRate }) => hourlyRate))
    : watts(sum((machine) => machine.watts.now));
}

/** One rack with its machines, top to bottom. */
export function RackBox({ rack: { name, machines } }: { readonly rack: Rack }) {
  return (
    <section class="rack" aria-label={name ? `Rack ${name}` : 'Machines without a rack'}>
      <h3>
        {name || 'no rack'}
        <span class="quiet">{costOf(machines)}</span>
      </h3>
      <ul>
        {machines.map((machine) => (
          <li key={machine.name}>
            <Unit machine={machine} />
          </li>
        ))}
      </ul>
    </section>
  );
}
