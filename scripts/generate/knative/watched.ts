import { functionTable } from '../../../functions/index.ts';
import { foreignEvents } from '../../../shared/ports/event-types.ts';
import { apiVersion, resourceKinds } from '../../../shared/schema/resource-kinds.ts';

interface Watched {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly wakes: readonly string[];
  /** What happens to it that wakes nobody is not sent on. */
  readonly verbs?: readonly string[];
}

/** Changes of the cluster that wake functions. Knative knows no field selectors, so all of a kind are watched. */
export const watchedCluster: readonly Watched[] = [
  // A pod is waiting once the scheduler has said so, which is an update.
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods', wakes: ['evaluate-scaling'], verbs: ['update'] },
  { apiVersion: 'v1', kind: 'Node', plural: 'nodes', wakes: ['evaluate-scaling', 'join-watcher'] },
];

/** Our own resources: watched apart, since whoever describes machines in a ConfigMap need not install them. */
export const watchedResources: readonly Watched[] = Object.values(resourceKinds).map(({ kind, plural }) => ({
  apiVersion,
  kind,
  plural,
  wakes: ['sync-inventory'],
}));

const all = [...watchedCluster, ...watchedResources];

/** What of the API server wakes a function; a function whose table says so must be named above, and no other. */
export function watchedBy(name: string): readonly Watched[] {
  const kinds = all.filter(({ wakes }) => wakes.includes(name));
  const definition = functionTable.find((row) => row.definition.name === name)?.definition;
  const isWoken = definition?.wakesOn.includes(foreignEvents.apiServer) ?? false;
  if (isWoken !== kinds.length > 0)
    throw new Error(`${name}: say in scripts/generate/knative/watched.ts which kinds wake it`);
  return kinds;
}
