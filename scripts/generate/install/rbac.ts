import { type Permissions, permissions, type Rule } from '../../../functions/permissions.ts';
import type { ViewPart } from '../../../shared/ports/view-parts.ts';
import { accountOf, labelsOf } from '../knative/names.ts';

export const hostAccount = accountOf('host');
/** Unless a kustomization names another. */
export const namespace = 'bamel';

/** Where each part of a view comes from. */
const seen: Readonly<Record<ViewPart, readonly [apiGroup: string, resource: string]>> = {
  pods: ['', 'pods'],
  nodes: ['', 'nodes'],
  daemonSets: ['apps', 'daemonsets'],
  namespaces: ['', 'namespaces'],
  volumes: ['', 'persistentvolumes'],
  claims: ['', 'persistentvolumeclaims'],
  storageClasses: ['storage.k8s.io', 'storageclasses'],
  budgets: ['policy', 'poddisruptionbudgets'],
};

/** One line per resource, with all that may be done to it. */
function merged(rules: readonly Rule[]) {
  const verbs = new Map<string, Set<string>>();
  for (const rule of rules)
    for (const resource of rule.resources) {
      const key = `${rule.apiGroup}|${resource}`;
      verbs.set(key, new Set([...(verbs.get(key) ?? []), ...rule.verbs]));
    }
  return [...verbs].sort().map(([key, allowed]) => {
    const [apiGroup = '', resource = ''] = key.split('|');
    return { apiGroups: [apiGroup], resources: [resource], verbs: [...allowed].sort() };
  });
}

export const rulesOf = ({ watches, clusterWide, ownNamespace }: Permissions) => ({
  clusterWide: merged([
    ...watches.map((part) => {
      const [apiGroup, resource] = seen[part];
      return { apiGroup, resources: [resource], verbs: ['list', 'watch'] };
    }),
    ...clusterWide,
  ]),
  ownNamespace: merged(ownNamespace),
});

const roleApi = 'rbac.authorization.k8s.io';

function account(name: string, given: Permissions): object[] {
  const metadata = { name: accountOf(name), labels: labelsOf(name) };
  const { clusterWide, ownNamespace } = rulesOf(given);
  const bound = (kind: 'ClusterRole' | 'Role', rules: readonly object[]): object[] =>
    rules.length === 0
      ? []
      : [
          { apiVersion: `${roleApi}/v1`, kind, metadata, rules },
          {
            apiVersion: `${roleApi}/v1`,
            kind: `${kind}Binding`,
            metadata,
            roleRef: { apiGroup: roleApi, kind, name: metadata.name },
            subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace }],
          },
        ];
  return [
    // With the namespace that the bindings name: only then kustomize changes it in both.
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, namespace } },
    ...bound('ClusterRole', clusterWide),
    ...bound('Role', ownNamespace),
  ];
}

/** By function: its ServiceAccount and what that may do. */
export const functionAccounts: Readonly<Record<string, readonly object[]>> = Object.fromEntries(
  Object.entries(permissions).map(([name, given]) => [name, account(name, given)]),
);

const all = Object.values(permissions);

/** All functions in one process may do what any of them may. */
export const hostPermissions: Permissions = {
  watches: [...new Set(all.flatMap(({ watches }) => watches))],
  clusterWide: all.flatMap(({ clusterWide }) => clusterWide),
  ownNamespace: all.flatMap(({ ownNamespace }) => ownNamespace),
};

export const hostRbac = account('host', hostPermissions);
