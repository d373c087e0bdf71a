import { ClusterError } from '../../shared/ports/cluster.ts';
import { explainDecision, explainMachine, explainPod } from '../core/decide/explain.ts';
import type { Snapshot } from '../core/decide/snapshot.ts';
import { HttpError } from '../server/http-response.ts';
import type { ApiRow } from './row.ts';
import { ExplanationShape, type ExplanationView } from './shapes.ts';

/** The core says in its first line when there is nothing to explain. */
function explained(lines: readonly string[]): ExplanationView {
  const [first = ''] = lines;
  if (first.startsWith('There is no ')) throw new HttpError(404, first);
  return { lines: [...lines] };
}

const look = (snapshot: () => Promise<Snapshot>): Promise<Snapshot> =>
  snapshot().catch((error: unknown) => {
    if (error instanceof ClusterError) throw new HttpError(503, error.message);
    throw error;
  });

/** Why things are as they are, in sentences. */
export const explainRows: readonly ApiRow[] = [
  {
    path: '/api/explain/pod/{name}',
    summary: 'why a pod waits, machine by machine; its name is NAMESPACE/NAME',
    shape: ExplanationShape,
    volatile: true,
    slashInName: true,
    answer: async ({ snapshot, name, now }) => explained(explainPod(await look(snapshot), name, now())),
  },
  {
    path: '/api/explain/machine/{name}',
    summary: 'what a decision would make of a machine now, and why',
    shape: ExplanationShape,
    volatile: true,
    answer: async ({ snapshot, name, now }) => explained(explainMachine(await look(snapshot), name, now())),
  },
  {
    path: '/api/explain/decision/{name}',
    summary: 'what a decision saw, chose and rejected',
    shape: ExplanationShape,
    answer: ({ view, name }) => {
      const decisions = view.decisions();
      const found = name === 'latest' ? decisions.at(-1) : decisions.find(({ id }) => id === name);
      return explained(found ? explainDecision(found) : [`There is no decision ${name}.`]);
    },
  },
];
