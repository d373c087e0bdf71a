import type { KubernetesObject } from '@kubernetes/client-node';
import { functionAccounts, hostRbac } from '../../scripts/generate/install/rbac.ts';

export interface Bound extends KubernetesObject {
  readonly subjects?: readonly { readonly namespace: string }[];
}

/** With those whom it is bound to in another namespace. */
export const movedTo = (namespace: string, object: Bound): KubernetesObject => ({
  ...object,
  ...(object.subjects && { subjects: object.subjects.map((subject) => ({ ...subject, namespace })) }),
});

/** Every ServiceAccount with its roles, as a kustomization would put them into a namespace. */
export const accountsIn = (namespace: string): KubernetesObject[] =>
  ([...Object.values(functionAccounts).flat(), ...hostRbac] as Bound[]).map((object) => ({
    ...movedTo(namespace, object),
    metadata: { ...object.metadata, ...(!object.kind?.startsWith('Cluster') && { namespace }) },
  }));
