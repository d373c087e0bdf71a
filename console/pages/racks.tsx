import { useMemo, useState } from 'preact/hooks';
import type { MachineView } from '../../shared/view/shapes.ts';
import { count } from '../format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Next } from '../parts/next.tsx';
import { RackBox } from '../parts/rack-box.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Trend } from '../parts/trends.tsx';
import { countsOf, type Density, densityOf, matches, tallest, zonesOf } from '../racks.ts';
import { useApi } from '../state/resource.ts';
import type { Machines } from '../types.ts';

/** Every machine where it stands, what comes next, and how it was. */
export function RacksPage() {
  const machines = useApi<Machines>('/api/machines?limit=10000');
  return (
    <>
      <h1 class="unseen">Racks</h1>
      <Loaded of={machines}>{({ items }) => <Wall machines={items} />}</Loaded>
    </>
  );
}

function Wall({ machines }: { readonly machines: readonly MachineView[] }) {
  const [text, setText] = useState('');
  const [state, setState] = useState('');
  const states = useMemo(() => countsOf(machines), [machines]);
  const found = useMemo(
    () => machines.filter((machine) => matches(machine, text, state)),
    [machines, text, state],
  );
  // Of all machines: a search does not make the racks jump.
  const density = useMemo(() => densityOf(machines.length, tallest(zonesOf(machines))), [machines]);
  const isDense = density.detail === 'name' || density.detail === 'colour';
  return (
    <div class="wall">
      <search class="tiles">
        {states.map(([name, inState]) => (
          <button
            type="button"
            key={name}
            class="tile"
            data-state={name}
            aria-pressed={state === name}
            onClick={() => setState(state === name ? '' : name)}
          >
            <b>{inState}</b>
            <span>
              <span class="lamp" aria-hidden="true" /> {name}
            </span>
          </button>
        ))}
        <input
          type="search"
          aria-label="Find machines by name, pool, rack, zone or node"
          placeholder="Find a machine"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </search>
      <div class="floor">
        {machines.length === 0 && <Empty />}
        {machines.length > 0 && found.length === 0 && (
          <p class="quiet">
            No machine matches.{' '}
            <button
              type="button"
              class="plain"
              onClick={() => {
                setText('');
                setState('');
              }}
            >
              Show all {machines.length}
            </button>
          </p>
        )}
        <Zones machines={found} density={density} />
        {!isDense && <Charts />}
      </div>
      <aside class="side" aria-label="Next, and the last hours">
        <Next most={isDense ? 5 : 12} />
        {isDense && <Charts />}
      </aside>
    </div>
  );
}

const Charts = () => (
  <>
    <RangePicker />
    <div class="charts">
      <Trend of="states" />
      <Trend of="waiting" />
    </div>
  </>
);

const Empty = () => (
  <div class="empty">
    <p>The inventory has no machines.</p>
    <p class="quiet">
      <code>bamel discover ADDRESS</code> prints an entry for a BMC; add it to <code>machines:</code> of the
      configuration file, or apply a BareMetalNode.
    </p>
  </div>
);

interface ZonesProps {
  readonly machines: readonly MachineView[];
  readonly density: Density;
}

function Zones({ machines, density }: ZonesProps) {
  const zones = useMemo(() => zonesOf(machines), [machines]);
  return (
    <div class="zones" data-detail={density.detail}>
      {zones.map(({ name, racks }) => (
        <section
          class="zone"
          key={name}
          style={{ '--racks': racks.length }}
          aria-label={name ? `Zone ${name}` : 'Machines without a zone'}
        >
          <h2>
            {name || 'no zone'}{' '}
            <span class="quiet">
              {count(racks.length, 'rack')},{' '}
              {count(
                racks.reduce((sum, rack) => sum + rack.machines.length, 0),
                'machine',
              )}
            </span>
          </h2>
          <div class="racks">
            {racks.map((rack) => (
              <RackBox key={rack.name} rack={rack} density={density} />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}
