import type { Node, Taint, Toleration } from '../cluster/cluster.ts';
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

const startup = [
  'startup-taint.cluster-autoscaler.kubernetes.io/',
  'status-taint.cluster-autoscaler.kubernetes.io/',
  'ignore-taint.cluster-autoscaler.kubernetes.io/',
  'node.cloudprovider.kubernetes.io/uninitialized',
];

/** Whoever set it takes it away when the node is initialized. */
const isStartup = ({ key, effect }: Taint, startupTaints: readonly Taint[]): boolean =>
  startup.some((prefix) => key.startsWith(prefix)) ||
  startupTaints.some((taint) => taint.key === key && taint.effect === effect);

/** Taints of a node that is still starting: they go by themselves, as those that Kubernetes sets until it is up. */
export const isPassing = (taint: Taint, startupTaints: readonly Taint[]): boolean =>
  taint.key.startsWith('node.kubernetes.io/') || isStartup(taint, startupTaints);

/** Kubernetes takes them from a node that has become Ready, but seconds later. */
const late = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** What keeps pods off a node that is there, and will for longer than it takes to start. */
export const lasting = (
  { taints, ready }: Pick<Node, 'taints' | 'ready'>,
  startupTaints: readonly Taint[] | undefined,
): readonly Taint[] =>
  ready && taints.length > 0
    ? taints.filter(
        (taint) => !late.includes(taint.key) && !(startupTaints && isStartup(taint, startupTaints)),
      )
    : taints;

export const describeTaint = ({ key, value, effect }: Taint): string =>
  `${key}${value ? `=${value}` : ''}:${effect}`;
