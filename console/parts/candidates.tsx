import type { DecisionView } from '../../shared/view/shapes.ts';
import { type Candidate, type Fate, fatesOf } from '../candidates.ts';
import { amount, count, watts } from '../format.ts';
import { MachineLink } from './links.tsx';

/** So many are named at once; the rest when somebody asks. */
const named = 8;

/** Every machine that was looked at, what became of it, and why. */
export function Candidates({ candidates }: { readonly candidates: DecisionView['candidates'] }) {
  return (
    <section>
      <h2>Candidates</h2>
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
      {candidates.length === 0 && <p class="quiet">No machine was looked at.</p>}
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
    {machines.map(({ machine, watts: drawn, score }) => (
      <li key={machine}>
        <MachineLink name={machine} />
        {drawn !== undefined && <span class="quiet"> {watts(drawn)}</span>}
        {score && <span class="quiet"> {scoreText(score)}</span>}
      </li>
    ))}
  </ul>
);

/** What each policy said of it: less is better. */
const scoreText = (score: Readonly<Record<string, number>>): string =>
  `(${Object.entries(score)
    .map(([policy, value]) => `${policy} ${amount(value)}`)
    .join(', ')})`;
