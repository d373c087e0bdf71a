import type { Toleration } from '../cluster.ts';
import type { Taint } from '../machine.ts';
import { integer } from './requirements.ts';

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Gt':
      return integer(taint.value) > integer(value);
    case 'Lt':
      return integer(taint.value) < integer(value);
    default:
      return key !== undefined && (value ?? '') === (taint.value ?? '');
  }
}

const tolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some((toleration) => tolerates(toleration, taint));

/** The first that keeps the pod away. */
export const untolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
): Taint | undefined =>
  taints.find((taint) => taint.effect !== 'PreferNoSchedule' && !tolerated(taint, tolerations));

/** How many only ask it to stay away. */
export const disliked = (taints: readonly Taint[], tolerations: readonly Toleration[]): number =>
  taints.filter((taint) => taint.effect === 'PreferNoSchedule' && !tolerated(taint, tolerations)).length;

/** What cordoning a node amounts to. */
export const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const passing = [
  'startup-taint.cluster-autoscaler.kubernetes.io/',
  'status-taint.cluster-autoscaler.kubernetes.io/',
  'ignore-taint.cluster-autoscaler.kubernetes.io/',
  // Set by Kubernetes on a node that is not up yet.
  'node.kubernetes.io/',
  'node.cloudprovider.kubernetes.io/uninitialized',
];

/** Taints of a node that is still starting: they go by themselves. */
export const isPassing = (taint: Taint, startupTaints: readonly Taint[]): boolean =>
  passing.some((prefix) => taint.key.startsWith(prefix)) ||
  startupTaints.some(({ key, effect }) => key === taint.key && effect === taint.effect);

export const describeTaint = ({ key, value, effect }: Taint): string =>
  `${key}${value ? `=${value}` : ''}:${effect}`;
