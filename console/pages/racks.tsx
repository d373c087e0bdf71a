import { useMemo, useState } from 'preact/hooks';
import type { MachineView } from '../../shared/view/shapes.ts';
import { count } from '../format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { RackBox } from '../parts/rack-box.tsx';
import { countsOf, matches, zonesOf } from '../racks.ts';
import { useApi } from '../state/resource.ts';
import type { Machines } from '../types.ts';

/** Every machine where it stands. */
export function RacksPage() {
  const machines = useApi<Machines>('/api/machines?limit=10000');
  return <Loaded of={machines}>{({ items }) => <Racks machines={items} />}</Loaded>;
}

function Racks({ machines }: { readonly machines: readonly MachineView[] }) {
  const [text, setText] = useState('');
  const [state, setState] = useState('');
  const states = useMemo(() => countsOf(machines), [machines]);
  const zones = useMemo(
    () => zonesOf(machines.filter((machine) => matches(machine, text, state))),
    [machines, text, state],
  );
  return (
    <>
      <h1 class="unseen">Racks</h1>
      <search class="filters">
        <input
          type="search"
          aria-label="Find machines by name, pool, rack, zone or node"
          placeholder="find a machine"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {states.map(([name, inState]) => (
          <button
            type="button"
            key={name}
            class="chip"
            data-state={name}
            aria-pressed={state === name}
            onClick={() => setState(state === name ? '' : name)}
          >
            <span class="lamp" aria-hidden="true" />
            {name} <b>{inState}</b>
          </button>
        ))}
      </search>
      {machines.length === 0 && <p class="quiet">There are no machines in the inventory.</p>}
      {machines.length > 0 && zones.length === 0 && <p class="quiet">No machine is like that.</p>}
      <div class="zones">
        {zones.map(({ name, racks }) => (
          <section class="zone" key={name} aria-label={name ? `Zone ${name}` : 'Machines without a zone'}>
            <h2>
              {name || 'no zone'} <span class="quiet">{count(racks.length, 'rack')}</span>
            </h2>
            <div class="racks">
              {racks.map((rack) => (
                <RackBox key={rack.name} rack={rack} />
              ))}
            </div>
          </section>
        ))}
      </div>
    </>
  );
}
