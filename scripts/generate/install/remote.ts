import { type RemotePermissions, type Rule, remotePermissions } from '../../../functions/permissions.ts';
import { accountOf, labelsOf } from '../knative/names.ts';
import { hostAccount, namespace } from './rbac.ts';

const roleApi = 'rbac.authorization.k8s.io';
/** Where Liqo is installed unless somebody chose another. */
const liqoNamespace = 'liqo';

const ruleOf = ({ apiGroup, resources, verbs, names }: Rule) => ({
  apiGroups: [apiGroup],
  resources,
  ...(names && { resourceNames: names }),
  verbs,
});

function boundTo(role: string, given: RemotePermissions): object[] {
  const accounts = [hostAccount, accountOf(given.function)];
  const bound = (
    kind: 'ClusterRole' | 'Role',
    metadata: { readonly name: string; readonly namespace?: string },
    rules: readonly Rule[],
  ) => [
    { apiVersion: `${roleApi}/v1`, kind, metadata, rules: rules.map(ruleOf) },
    {
      apiVersion: `${roleApi}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: roleApi, kind, name: metadata.name },
      subjects: accounts.map((name) => ({ kind: 'ServiceAccount', name, namespace })),
    },
  ];
  const metadata = { name: accountOf(`remote-${role}`), labels: labelsOf(`remote-${role}`) };
  return [
    ...bound('ClusterRole', metadata, given.clusterWide),
    ...bound('Role', { ...metadata, namespace: liqoNamespace }, given.inLiqo),
  ];
}

/** By role, of a cluster that borrows or lends: what our accounts may do besides. */
export const remoteRbac: Readonly<Record<string, readonly object[]>> = Object.fromEntries(
  Object.entries(remotePermissions).map(([role, given]) => [role, boundTo(role, given)]),
);
