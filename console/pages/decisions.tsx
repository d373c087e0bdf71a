import type { DecisionSummary } from '../../shared/view/shapes.ts';
import { At } from '../parts/ago.tsx';
import { DecisionLink } from '../parts/links.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { useApi } from '../state/resource.ts';
import type { Decisions } from '../types.ts';

export function DecisionsPage() {
  const decisions = useApi<Decisions>('/api/decisions');
  return (
    <div class="filling">
      <h1>Decisions</h1>
      <Loaded of={decisions}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">No decision has been made yet.</p>
          ) : (
            <VirtualList
              label="Decisions, the latest first"
              items={items}
              keyOf={({ id }) => id}
              row={(decision) => <Row decision={decision} />}
            />
          )
        }
      </Loaded>
    </div>
  );
}

function Row({
  decision: { id, at, summary, powerOn, drain, unmet },
}: {
  readonly decision: DecisionSummary;
}) {
  return (
    <div class="decision">
      <At time={at} />
      <DecisionLink id={id}>{summary}</DecisionLink>
      <span class="tags">
        {powerOn.length > 0 && <span class="tag on">{powerOn.length} on</span>}
        {drain.length > 0 && <span class="tag off">{drain.length} off</span>}
        {unmet > 0 && <span class="tag bad">{unmet} unmet</span>}
      </span>
    </div>
  );
}
