import { type ViewPart, viewParts } from '../shared/ports/view-parts.ts';
import { group, resourceKinds } from '../shared/schema/resource-kinds.ts';

export interface Rule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only of these names. */
  readonly names?: readonly string[] | undefined;
}

export interface Permissions {
  /** What it sees of the cluster, watched. Nothing else is in its view. */
  readonly watches: readonly ViewPart[];
  /** What else it may do, in every namespace. */
  readonly clusterWide: readonly Rule[];
  /** What else it may do in the namespace that it runs in. */
  readonly ownNamespace: readonly Rule[];
}

const may = (verbs: string, apiGroup: string, ...resources: readonly string[]): Rule => ({
  apiGroup,
  resources,
  verbs: verbs.split(' '),
});

const ours = Object.values(resourceKinds).map(({ plural }) => plural);
const createEvents = may('create', 'events.k8s.io', 'events');
/** Whose token a caller has. */
const reviewTokens = may('create', 'authentication.k8s.io', 'tokenreviews');

/** What each function may do in Kubernetes, and no more: its ServiceAccount and its view are made from this. */
export const permissions: Readonly<Record<string, Permissions>> = {
  'evaluate-scaling': {
    watches: viewParts,
    clusterWide: [createEvents, reviewTokens],
    ownNamespace: [],
  },
  'power-action': {
    watches: ['nodes'],
    // For machines that nothing but their node tells about.
    clusterWide: [may('get', '', 'nodes'), may('get', 'coordination.k8s.io', 'leases'), reviewTokens],
    ownNamespace: [
      may('get', '', 'secrets'),
      // For machines that are powered by Jobs.
      may('get list create', 'batch', 'jobs'),
      may('get create update', 'batch', 'cronjobs'),
      may('list', '', 'pods'),
      may('get', '', 'pods/log'),
    ],
  },
  'join-watcher': {
    watches: ['pods', 'nodes', 'daemonSets', 'budgets'],
    clusterWide: [
      may('get patch delete', '', 'nodes'),
      // Of machines that are proven off.
      may('delete', '', 'pods'),
      may('list', 'storage.k8s.io', 'volumeattachments'),
      createEvents,
      reviewTokens,
    ],
    ownNamespace: [],
  },
  'drain-node': {
    watches: ['pods', 'nodes', 'budgets'],
    clusterWide: [
      may('get patch', '', 'nodes'),
      may('create', '', 'pods/eviction'),
      may('list', 'storage.k8s.io', 'volumeattachments'),
      createEvents,
      reviewTokens,
    ],
    ownNamespace: [],
  },
  'sync-inventory': {
    watches: ['nodes'],
    clusterWide: [
      may('get list watch patch delete', group, ...ours),
      may('patch', group, ...ours.map((plural) => `${plural}/status`)),
      may('create', '', 'events'),
      reviewTokens,
    ],
    ownNamespace: [may('get', '', 'configmaps')],
  },
  // To sign offers, and for the tokens of listings; what a provider may do besides is in config/remote.
  discovery: {
    watches: [],
    clusterWide: [createEvents, reviewTokens],
    ownNamespace: [may('get', '', 'secrets')],
  },
  'dead-letters': { watches: [], clusterWide: [reviewTokens], ownNamespace: [] },
  // Looks at all that a decision looks at, to tell why; what people ask for goes through the store.
  console: { watches: viewParts, clusterWide: [reviewTokens], ownNamespace: [] },
};

/** What borrowing from, or lending to, another cluster through Liqo needs besides. Only where that is done. */
export interface RemotePermissions {
  /** The function that needs it. */
  readonly function: string;
  readonly clusterWide: readonly Rule[];
  /** In the namespace that Liqo runs in. */
  readonly inLiqo: readonly Rule[];
}

const only = (rule: Rule, ...names: readonly string[]): Rule => ({ ...rule, names });

export const remotePermissions: Readonly<Record<string, RemotePermissions>> = {
  consumer: {
    function: 'power-action',
    clusterWide: [
      may('get list create patch delete', 'authentication.liqo.io', 'resourceslices'),
      may('get create', 'authentication.liqo.io', 'identities'),
      may('get', 'offloading.liqo.io', 'virtualnodes'),
      may('get', 'core.liqo.io', 'foreignclusters'),
      may('get create', '', 'namespaces'),
    ],
    inLiqo: [
      only(may('get', '', 'configmaps'), 'liqo-clusterid-configmap'),
      // To sign a nonce and a request for a certificate; it goes nowhere.
      only(may('get', '', 'secrets'), 'authentication-keys'),
    ],
  },
  provider: {
    function: 'discovery',
    clusterWide: [
      may('get create', '', 'namespaces'),
      may('get create patch delete', 'authentication.liqo.io', 'tenants'),
      may('create', '', 'secrets'),
      only(may('get delete', '', 'secrets'), 'liqo-nonce'),
    ],
    inLiqo: [only(may('get', '', 'configmaps'), 'liqo-clusterid-configmap')],
  },
};
