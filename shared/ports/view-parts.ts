import type { ClusterView } from '../core/cluster/cluster.ts';

/** The kinds of objects in a view of the cluster. */
export const viewParts = [
  'pods',
  'nodes',
  'daemonSets',
  'namespaces',
  'volumes',
  'claims',
  'storageClasses',
  'budgets',
] as const satisfies readonly (keyof ClusterView)[];
export type ViewPart = (typeof viewParts)[number];
