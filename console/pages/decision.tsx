import type { DecisionView } from '../../shared/view/shapes.ts';
import { Ago, At } from '../parts/ago.tsx';
import { Candidates } from '../parts/candidates.tsx';
import { Facts } from '../parts/facts.tsx';
import { Flow } from '../parts/flow.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { hashOf } from '../state/place.ts';
import { useApi } from '../state/resource.ts';

/** What an evaluation saw, chose and rejected, and why. */
export function DecisionPage({ id }: { readonly id: string }) {
  const decision = useApi<DecisionView>(`/api/decisions/${encodeURIComponent(id)}`);
  return (
    <>
      <p class="crumbs">
        <a href={hashOf('decisions')}>Decisions</a>
      </p>
      <Loaded of={decision}>{(data) => <Decision decision={data} />}</Loaded>
    </>
  );
}

function Decision({ decision }: { readonly decision: DecisionView }) {
  const { at, summary, digest, limits, notes, unmetPods } = decision;
  return (
    <>
      <h1>{summary}</h1>
      <p class="quiet">
        Decided <At time={at} /> (<Ago time={at} />
        ), inputs <span class="name">{digest}</span>
      </p>
      <Flow decision={decision} />
      <div class="cards">
        <Facts
          title="Unmet demand"
          tone="bad"
          items={unmetPods.map(({ pod, pods, why }) => `${pods > 1 ? `${pods} like ${pod}` : pod}: ${why}`)}
        />
        <Facts title="Limits that held something back" items={limits} />
        <Facts title="Notes" items={notes} />
      </div>
      <Candidates candidates={decision.candidates} />
    </>
  );
}
