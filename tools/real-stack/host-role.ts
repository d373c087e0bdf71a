import { readFileSync } from 'node:fs';
import type { V1ClusterRole, V1Role } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';

/** All that the installed host may do, at home or everywhere, as one role. */
export function hostRole(): V1ClusterRole {
  const text = readFileSync(new URL('../../config/manager/rbac.yaml', import.meta.url), 'utf8');
  const roles = parseAllDocuments(text)
    .map((document) => document.toJS() as V1Role)
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return { metadata: { name: 'bamel' }, rules: roles.flatMap(({ rules = [] }) => rules) };
}
