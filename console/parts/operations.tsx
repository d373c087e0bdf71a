import type { OperationView } from '../../shared/view/shapes.ts';
import { duration } from '../format.ts';
import { At } from './ago.tsx';
import { DecisionLink } from './links.tsx';

export function Operations({ operations }: { readonly operations: readonly OperationView[] }) {
  return (
    <section>
      <h2>Operations</h2>
      {operations.length === 0 && <p class="quiet">None is recorded.</p>}
      <ol class="operations">
        {operations.map((operation) => (
          <li key={operation.id}>
            <Operation operation={operation} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Operation({ operation }: { readonly operation: OperationView }) {
  const { goal, why, createdAt, endedAt, end, error, decision, commands, progress } = operation;
  return (
    <details open={end === undefined}>
      <summary>
        <At time={createdAt} /> <b>power {goal}</b>{' '}
        <span class="tag" data-end={end ?? 'in progress'}>
          {end ?? 'in progress'}
          {endedAt !== undefined && ` after ${duration(endedAt - createdAt)}`}
        </span>{' '}
        {why}
      </summary>
      <ul class="steps">
        {decision && (
          <li>
            decided by <DecisionLink id={decision} />
          </li>
        )}
        {commands.map(({ verb, at }) => (
          <li key={`${at}${verb}`}>
            <At time={at} /> command: {verb}
          </li>
        ))}
        {progress.map(({ at, what }) => (
          <li key={`${at}${what}`}>
            <At time={at} /> {what}
          </li>
        ))}
        {error && <li class="problem">{error}</li>}
      </ul>
    </details>
  );
}
