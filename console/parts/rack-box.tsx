import { watts } from '../format.ts';
import type { Rack } from '../racks.ts';
import { Unit } from './unit.tsx';

/** One rack with its machines, top to bottom. */
export function RackBox({ rack: { name, machines } }: { readonly rack: Rack }) {
  const drawn = machines.reduce((sum, machine) => sum + (machine.watts.now ?? 0), 0);
  return (
    <section class="rack" aria-label={name ? `Rack ${name}` : 'Machines without a rack'}>
      <h3>
        {name || 'no rack'}
        <span class="quiet">{watts(drawn)}</span>
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
