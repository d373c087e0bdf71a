import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Node } from './cluster.ts';

const scaleDownDisabled = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const doNotDisrupt = 'karpenter.sh/do-not-disrupt';
const controlPlane = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** What keeps this machine on whatever happens on it, or nothing. */
export function protection(
  machine: Machine,
  node: Node,
  protect: readonly string[],
  ownNode: string | undefined,
): Reason | undefined {
  if (node.name === ownNode) return { code: 'own-node' };
  // A control-plane node is never a candidate, even if it is not protected explicitly.
  if (controlPlane.some((label) => label in node.labels)) return { code: 'protected', by: 'control-plane' };
  const entry = protectedBy(machine, node, protect);
  if (entry) return { code: 'protected', by: entry };
  if (node.annotations[scaleDownDisabled] === 'true')
    return { code: 'protected-by-annotation', annotation: scaleDownDisabled };
  if (node.annotations[doNotDisrupt] === 'true')
    return { code: 'protected-by-annotation', annotation: doNotDisrupt };
  return machine.spec.powerState === 'on' ? { code: 'stays-on' } : undefined;
}

/** `control-plane`, `name=nas`, a label key, or key=value: the first that matches. */
export function protectedBy(
  { spec }: Pick<Machine, 'spec'>,
  node: Pick<Node, 'name' | 'labels'>,
  protect: readonly string[],
): string | undefined {
  const labels: Record<string, string> = { ...spec.labels, ...node.labels };
  return protect.find((entry) => {
    if (entry === 'control-plane') return controlPlane.some((label) => label in labels);
    const [key = '', value] = entry.split('=', 2);
    if (key === 'name') return value === spec.name || value === node.name;
    return value === undefined ? key in labels : labels[key] === value;
  });
}
