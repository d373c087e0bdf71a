import type { MachineDetail } from '../../shared/view/shapes.ts';
import { count } from '../format.ts';
import { Actions } from '../parts/actions.tsx';
import { Ago, For } from '../parts/ago.tsx';
import { Description } from '../parts/description.tsx';
import { Happening, keyOfHappening } from '../parts/happening.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Observations } from '../parts/observations.tsx';
import { Operations } from '../parts/operations.tsx';
import { Pressure } from '../parts/pressure.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { State } from '../parts/state.tsx';
import { Boots } from '../parts/trends.tsx';
import { hashOf } from '../state/place.ts';
import { useApi } from '../state/resource.ts';

export function MachinePage({ name }: { readonly name: string }) {
  const machine = useApi<MachineDetail>(`/api/machines/${encodeURIComponent(name)}`);
  return (
    <>
      <p class="crumbs">
        <a href={hashOf('racks')}>Racks</a>
      </p>
      <Loaded of={machine}>{(data) => <Machine machine={data} />}</Loaded>
    </>
  );
}

const drainText = ({ podsLeft, podsTotal, waitingFor }: NonNullable<MachineDetail['drain']>): string =>
  `${podsLeft} of ${count(podsTotal, 'pod')} left${waitingFor ? `, waits for ${waitingFor}` : ''}`;

function Machine({ machine }: { readonly machine: MachineDetail }) {
  return (
    <>
      <h1>
        <span class="name">{machine.name}</span> <State state={machine.state} />
      </h1>
      <p>
        {machine.means}, for <For since={machine.stateSince} />; waits for {machine.waitsFor}.
        {machine.why && machine.why !== machine.error?.message && (
          <span class="quiet"> Last change: {machine.why}.</span>
        )}
      </p>
      {machine.error && (
        <p class="problem">
          {machine.error.message} (<Ago time={machine.error.at} />
          {machine.attempts > 0 && `, ${machine.attempts} in a row`}
          {machine.retryAt !== undefined && (
            <>
              , next try <Ago time={machine.retryAt} />
            </>
          )}
          )
        </p>
      )}
      {machine.drain && machine.capacity === 'leaving' && <p class="note">{drainText(machine.drain)}</p>}
      {machine.node.name !== undefined && <Pressure node={machine.node.name} />}
      <Actions machine={machine} />
      <Observations machine={machine} />
      <div class="halves">
        <section class="card">
          <h2>Description</h2>
          <Description machine={machine} />
        </section>
        <section class="card">
          <RangePicker />
          <Boots machine={machine.name} />
          <Operations operations={machine.operations} />
        </section>
      </div>
      <section>
        <h2>History</h2>
        <ol class="rows">
          {machine.history.map((event) => (
            <li key={keyOfHappening(event)}>
              <Happening event={event} alone />
            </li>
          ))}
        </ol>
        {machine.history.length === 0 && (
          <p class="quiet">Nothing has happened to it since it is in the inventory.</p>
        )}
      </section>
    </>
  );
}
