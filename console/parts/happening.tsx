import type { HistoryView } from '../../shared/view/shapes.ts';
import { At } from './ago.tsx';
import { MachineLink } from './links.tsx';
import { State } from './state.tsx';

export const keyOfHappening = ({ machine, at, event }: HistoryView): string => `${at} ${machine} ${event}`;

/** One thing that happened to a machine; `alone` on that machine's own page. */
export function Happening({ event, alone }: { readonly event: HistoryView; readonly alone?: boolean }) {
  return (
    <div class="happening">
      <At time={event.at} />
      {!alone && <MachineLink name={event.machine} />}
      <State state={event.to} />
      <span class="why" title={event.why ?? ''}>
        {event.why ?? event.event.replaceAll('-', ' ')}
      </span>
      <span class="by quiet">{event.by}</span>
    </div>
  );
}
