import { type ViewPart, viewParts } from '../shared/adapters/view-parts.ts';
import { group, resourceKinds } from '../shared/schema/resource-kinds.ts';

export interface Rule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface Permissions {
  /** What it sees of the cluster, watched. Nothing else is in its view. */
  readonly sees: readonly ViewPart[];
  /** What else it may do, in every namespace. */
  readonly everywhere: readonly Rule[];
  /** What else it may do in the namespace that it runs in. */
  readonly atHome: readonly Rule[];
}

const may = (verbs: string, apiGroup: string, ...resources: readonly string[]): Rule => ({
  apiGroup,
  resources,
  verbs: verbs.split(' '),
});

const ours = Object.values(resourceKinds).map(({ plural }) => plural);
const tell = may('create', 'events.k8s.io', 'events');
/** Whose token a caller has. */
const check = may('create', 'authentication.k8s.io', 'tokenreviews');

/** What each function may do in Kubernetes, and no more: its ServiceAccount and its view are made from this. */
export const permissions: Readonly<Record<string, Permissions>> = {
  'evaluate-scaling': {
    sees: viewParts,
    everywhere: [tell, check],
    atHome: [],
  },
  'power-action': {
    sees: ['nodes'],
    // For machines that nothing but their node tells about.
    everywhere: [may('get', '', 'nodes'), may('get', 'coordination.k8s.io', 'leases'), check],
    atHome: [
      may('get', '', 'secrets'),
      // For machines that are powered by Jobs.
      may('get list create', 'batch', 'jobs'),
      may('get create update', 'batch', 'cronjobs'),
      may('list', '', 'pods'),
      may('get', '', 'pods/log'),
    ],
  },
  'join-watcher': {
    sees: ['pods', 'nodes', 'daemonSets', 'budgets'],
    everywhere: [
      may('get patch delete', '', 'nodes'),
      // Of machines that are proven off.
      may('delete', '', 'pods'),
      may('list', 'storage.k8s.io', 'volumeattachments'),
      tell,
      check,
    ],
    atHome: [],
  },
  'drain-node': {
    sees: ['pods', 'nodes', 'budgets'],
    everywhere: [
      may('get patch', '', 'nodes'),
      may('create', '', 'pods/eviction'),
      may('list', 'storage.k8s.io', 'volumeattachments'),
      tell,
      check,
    ],
    atHome: [],
  },
  'sync-inventory': {
    sees: ['nodes'],
    everywhere: [
      may('get list watch patch delete', group, ...ours),
      may('patch', group, ...ours.map((plural) => `${plural}/status`)),
      may('create', '', 'events'),
      check,
    ],
    atHome: [may('get', '', 'configmaps')],
  },
  'dead-letters': { sees: [], everywhere: [check], atHome: [] },
};
