import type { HistoryView } from '../../shared/view/shapes.ts';
import { At } from './ago.tsx';
import { MachineLink } from './links.tsx';
import { State } from './state.tsx';

export const keyOfHappening = ({ machine, at, event }: HistoryView): string => `${at} ${machine} ${event}`;

/** An event of a machine; `alone` on that machine's own page. */
export function Happening({ event, alone }: { readonly event: HistoryView; readonly alone?: boolean }) {
  return (
    <div class="happening" data-alone={alone || undefined}>
      <At time={event.at} />
      {!alone && <MachineLink name={event.machine} />}
      <State state={event.to} />
      <span class="why">{event.why ?? event.event.replaceAll('-', ' ')}</span>
      <span class="by quiet">{event.by}</span>
    </div>
  );
}
