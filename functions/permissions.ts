import { type ViewPart, viewParts } from '../shared/ports/view-parts.ts';
import { group, resourceKinds } from '../shared/schema/resource-kinds.ts';

export interface Rule {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Restricts the rule to these names. */
  readonly names?: readonly string[] | undefined;
}

export interface Permissions {
  /** Parts of the cluster that it watches. Its view contains nothing else. */
  readonly watches: readonly ViewPart[];
  /** Additional rules for all namespaces. */
  readonly clusterWide: readonly Rule[];
  /** Additional rules for its own namespace. */
  readonly ownNamespace: readonly Rule[];
}

const may = (verbs: string, apiGroup: string, ...resources: readonly string[]): Rule => ({
  apiGroup,
  resources,
  verbs: verbs.split(' '),
});

const ours = Object.values(resourceKinds).map(({ plural }) => plural);
const createEvents = may('create', 'events.k8s.io', 'events');
/** Authenticates callers. */
const reviewTokens = may('create', 'authentication.k8s.io', 'tokenreviews');

/** Minimal Kubernetes permissions of each function: ServiceAccounts and views are generated from this. */
export const permissions: Readonly<Record<string, Permissions>> = {
  'evaluate-scaling': {
    watches: viewParts,
    clusterWide: [createEvents, reviewTokens],
    ownNamespace: [],
  },
  'power-action': {
    watches: ['nodes'],
    // For machines whose power can only be inferred from their node.
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
      // Pods of machines that are proven off.
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
  // Secrets hold the signing key and the tokens of listings; config/remote has the additional rules of a
  // provider.
  discovery: {
    watches: [],
    clusterWide: [createEvents, reviewTokens],
    ownNamespace: [may('get', '', 'secrets')],
  },
  'dead-letters': { watches: [], clusterWide: [reviewTokens], ownNamespace: [] },
  // Reads everything that a decision reads, to explain it; requests of people go through the store.
  console: { watches: viewParts, clusterWide: [reviewTokens], ownNamespace: [] },
};

/**
 * Additional permissions to use, or to provide, remote capacity through Liqo. Only installed where that is
 * done.
 */
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
      // Signs a nonce and a certificate request; the key never leaves the process.
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
