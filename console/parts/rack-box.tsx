import type { MachineView } from '../../shared/view/shapes.ts';
import { hourly, watts } from '../format.ts';
import { type Density, layoutOf, type Rack, shortNames } from '../racks.ts';
import { Unit } from './unit.tsx';

/** Watts drawn; of slices of remote clusters, their price. */
function costOf(machines: readonly MachineView[]): string {
  const sum = (of: (machine: MachineView) => number | undefined) =>
    machines.reduce((total, machine) => total + (of(machine) ?? 0), 0);
  return machines.every(({ offer }) => offer !== undefined)
    ? hourly(sum(({ hourlyRate }) => hourlyRate))
    : watts(sum((machine) => machine.watts.now));
}

/** As many characters as fit a row of each detail. */
const mostCharacters = { full: 80, line: 20, name: 17, colour: 80 } as const;

interface Props {
  readonly rack: Rack;
  readonly density: Density;
}

/** A rack with its machines at their units, top to bottom. */
export function RackBox({ rack: { name, machines }, density: { detail, rowPx } }: Props) {
  const { rows, numbered, slots } = layoutOf(machines);
  const short = shortNames(
    machines.map((machine) => machine.name),
    mostCharacters[detail],
  );
  return (
    <section
      class="rack"
      data-detail={detail}
      data-numbered={numbered || undefined}
      aria-label={name ? `Rack ${name}` : 'Machines without a rack'}
    >
      <h3>
        <span>{name || 'no rack'}</span>
        <span class="quiet">{costOf(machines)}</span>
      </h3>
      <div class="frame" style={{ '--rows': rows, '--u': `${rowPx}px` }}>
        {numbered && detail !== 'colour' && <Numbers rows={rows} />}
        <ul>
          {slots.map(({ machine, row, rows: taken }) => (
            <li key={machine.name} style={{ gridRow: `${row} / span ${taken}` }}>
              <Unit machine={machine} shown={short.get(machine.name) ?? machine.name} detail={detail} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** Every sixth unit is numbered, and the first. */
const Numbers = ({ rows }: { readonly rows: number }) => (
  <ol class="numbers-of-units" aria-hidden="true">
    {Array.from({ length: rows }, (_, index) => rows - index).map((unit) => (
      <li key={unit}>{unit === 1 || unit % 6 === 0 ? unit : ''}</li>
    ))}
  </ol>
);
