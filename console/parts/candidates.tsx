import type { DecisionView } from '../../shared/view/shapes.ts';
import { type Candidate, type Fate, fatesOf } from '../candidates.ts';
import { count } from '../format.ts';
import { MachineLink } from './links.tsx';

/** So many are named at once; the rest is folded. */
const named = 8;

/** Every machine that was considered, its verdict, and why. */
export function Candidates({ candidates }: { readonly candidates: DecisionView['candidates'] }) {
  return (
    <section>
      <h2>All candidates</h2>
      <div class="scroll">
        <table class="candidates">
          <thead>
            <tr>
              <th scope="col">verdict</th>
              <th scope="col">why</th>
              <th scope="col">machines</th>
            </tr>
          </thead>
          <tbody>
            {fatesOf(candidates).map((fate) => (
              <Row key={`${fate.verdict} ${fate.why}`} fate={fate} />
            ))}
          </tbody>
        </table>
      </div>
      {candidates.length === 0 && <p class="quiet">No machine was considered.</p>}
    </section>
  );
}

function Row({ fate: { verdict, why, machines, count: all } }: { readonly fate: Fate }) {
  const first = machines.slice(0, named);
  const rest = machines.slice(named);
  return (
    <tr>
      <td>
        <span class="verdict" data-verdict={verdict}>
          {verdict}
        </span>
      </td>
      <td>{why}</td>
      <td>
        <Named machines={first} />
        {rest.length > 0 && (
          <details>
            <summary>{rest.length} more</summary>
            <Named machines={rest} />
          </details>
        )}
        {all > machines.length && <span class="quiet"> {count(all, 'machine')} in all</span>}
      </td>
    </tr>
  );
}

const Named = ({ machines }: { readonly machines: readonly Candidate[] }) => (
  <ul class="named">
    {machines.map(({ machine }) => (
      <li key={machine}>
        <MachineLink name={machine} />
      </li>
    ))}
  </ul>
);
