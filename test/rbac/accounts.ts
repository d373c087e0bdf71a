import type { KubernetesObject } from '@kubernetes/client-node';
import { functionAccounts, hostRbac } from '../../scripts/generate/install/rbac.ts';

interface Bound extends KubernetesObject {
  readonly subjects?: readonly { readonly namespace: string }[];
}

/** Every ServiceAccount with its roles, as a kustomization would put them into a namespace. */
export const accountsIn = (namespace: string): KubernetesObject[] =>
  ([...Object.values(functionAccounts).flat(), ...hostRbac] as Bound[]).map((object) => ({
    ...object,
    metadata: { ...object.metadata, ...(!object.kind?.startsWith('Cluster') && { namespace }) },
    ...(object.subjects && { subjects: object.subjects.map((subject) => ({ ...subject, namespace })) }),
  }));
