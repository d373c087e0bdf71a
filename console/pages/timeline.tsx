import { useCallback, useMemo, useState } from 'preact/hooks';
import type { HistoryView } from '../../shared/view/shapes.ts';
import { Filters, hasWords } from '../parts/filters.tsx';
import { Happening, keyOfHappening } from '../parts/happening.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { Rows } from '../parts/rows.tsx';
import { Boots, Trend } from '../parts/trends.tsx';
import { stateOrder } from '../racks.ts';
import { useApi } from '../state/resource.ts';
import type { Happenings } from '../types.ts';

const step = 500;
const most = 10_000;

/** What happened to machines and why, the latest first. */
export function TimelinePage() {
  const [limit, setLimit] = useState(step);
  const events = useApi<Happenings>(`/api/events?limit=${limit}`);
  const total = events.data.value?.total ?? 0;
  const more = useCallback(() => {
    if (total > limit && limit < most) setLimit(Math.min(most, limit * 4));
  }, [total, limit]);
  return (
    <>
      <div class="head">
        <h1>Timeline</h1>
        <RangePicker />
      </div>
      <div class="charts">
        <Trend of="states" />
        <Boots />
      </div>
      <Loaded of={events}>{({ items }) => <Events items={items} more={more} />}</Loaded>
    </>
  );
}

interface Props {
  readonly items: readonly HistoryView[];
  readonly more: () => void;
}

function Events({ items, more }: Props) {
  const [text, setText] = useState('');
  const [state, setState] = useState('');
  const found = useMemo(
    () =>
      items.filter(
        ({ machine, to, from, why, by, event }) =>
          (!state || to === state) && hasWords(text, machine, to, from, why, by, event),
      ),
    [items, text, state],
  );
  if (items.length === 0)
    return (
      <p class="empty">
        Nothing has happened yet. Power-ons, drains and failures appear here as they happen; the first follows
        when a pod waits for a machine.
      </p>
    );
  return (
    <>
      <Filters
        label="Find by machine, reason or function"
        text={text}
        onText={setText}
        choices={stateOrder
          .filter((name) => items.some(({ to }) => to === name))
          .map((name) => ({ name, state: name }))}
        chosen={state}
        onChoose={setState}
      />
      {found.length === 0 && <p class="quiet">No event of the {items.length} that are loaded matches.</p>}
      <Rows
        label="Events, the latest first"
        items={found}
        keyOf={keyOfHappening}
        row={(event) => <Happening event={event} />}
        onEnd={more}
      />
    </>
  );
}
