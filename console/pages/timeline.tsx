import { useCallback, useState } from 'preact/hooks';
import { Happening, keyOfHappening } from '../parts/happening.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
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
    <div class="filling">
      <h1>Timeline</h1>
      <Loaded of={events}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">Nothing has happened yet.</p>
          ) : (
            <VirtualList
              label="What happened, the latest first"
              items={items}
              keyOf={keyOfHappening}
              row={(event) => <Happening event={event} />}
              onEnd={more}
            />
          )
        }
      </Loaded>
    </div>
  );
}
