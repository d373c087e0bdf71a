import type { DecisionView } from '../../shared/view/shapes.ts';
import { resources } from '../format.ts';
import { Ago, At } from '../parts/ago.tsx';
import { Candidates } from '../parts/candidates.tsx';
import { Facts } from '../parts/facts.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useApi } from '../state/resource.ts';

/** What an evaluation saw, chose and rejected, and why. */
export function DecisionPage({ id }: { readonly id: string }) {
  const decision = useApi<DecisionView>(`/api/decisions/${encodeURIComponent(id)}`);
  return <Loaded of={decision}>{(data) => <Decision decision={data} />}</Loaded>;
}

function Decision({ decision }: { readonly decision: DecisionView }) {
  const { at, summary, digest, wants, limits, notes, unmetPods } = decision;
  return (
    <>
      <h1>{summary}</h1>
      <p class="quiet">
        decided <At time={at} /> (<Ago time={at} />) on inputs {digest}
      </p>
      <Facts title="Limits that held something back" items={limits} />
      <Facts
        title="Demand that nothing serves"
        items={unmetPods.map(({ pod, pods, why }) => `${pods > 1 ? `${pods} like ${pod}` : pod}: ${why}`)}
      />
      <Facts title="Wanted beside pods" items={wants} />
      <Demand demand={decision.demand} />
      <Candidates candidates={decision.candidates} />
      <Facts title="Notes" items={notes} />
    </>
  );
}

function Demand({ demand }: { readonly demand: DecisionView['demand'] }) {
  if (demand.length === 0) return <p class="quiet">No pod was waiting.</p>;
  return (
    <section>
      <h2>Demand</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">pods</th>
              <th scope="col">each asks for</th>
              <th scope="col">have room</th>
              <th scope="col">get it</th>
              <th scope="col">for one</th>
            </tr>
          </thead>
          <tbody>
            {demand.map(({ pods, requests, room, served, example }) => (
              <tr key={example}>
                <td>{pods}</td>
                <td>{resources(requests)}</td>
                <td>{room}</td>
                <td>{served}</td>
                <td>{example}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
