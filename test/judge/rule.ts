/** Which rule keeps a pod from a node. */
export type Rule =
  | 'shut'
  | 'impossible'
  | 'labels'
  | 'taints'
  | 'cordon'
  | 'volumes'
  | 'resources'
  | 'ports'
  | 'claim'
  | 'anti-affinity'
  | 'affinity'
  | 'spread';
