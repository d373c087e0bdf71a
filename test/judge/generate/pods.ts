import type { DaemonSet, Pod } from '../../../shared/core/cluster/cluster.ts';
import { minute } from './inventory.ts';
import type { Random } from './random.ts';
import type { Disks } from './storage.ts';
import { Gi, type Template } from './templates.ts';

/** The time of every generated instance. */
export const at = 1_800_000_000_000;

/** A pod and what it was made from. */
export type Bound = { readonly pod: Pod; readonly template: Template };

export function podOf(template: Template, name: string, parts: Partial<Pod>): Bound {
  const { requests, labels, nodeSelector = {}, tolerations = [], rules, priority = 0 } = template;
  const pod: Pod = {
    namespace: 'default',
    name,
    uid: name,
    finished: false,
    unschedulable: 'Insufficient cpu',
    terminating: false,
    belongsToNode: false,
    movable: true,
    createdAt: at - minute,
    owner: { kind: 'ReplicaSet', name: template.app, uid: template.app },
    requests,
    labels,
    nodeSelector,
    tolerations,
    rules,
    priority,
    ...parts,
  };
  return { pod, template };
}

export const withClaim = (pod: Pod, claim: string): Pod => ({
  ...pod,
  rules: { ...pod.rules, claims: [claim] },
});

export function waitingPod(template: Template, index: number, random: Random, disks: Disks): Pod {
  const parts = random.chance(0.05) ? { createdAt: at - 10 * minute } : {};
  const { pod } = podOf(template, `w${index}`, parts);
  return template.volume ? withClaim(pod, disks.claimFor(template.volume, random)) : pod;
}

const agentTemplate: Template = {
  app: 'agent',
  requests: { cpu: 100, memory: Gi / 8 },
  labels: { app: 'agent' },
};
const agentParts = { unschedulable: undefined, belongsToNode: true, tolerations: [{ operator: 'Exists' }] };
export const agent: DaemonSet = {
  namespace: 'default',
  name: 'agent',
  template: podOf(agentTemplate, 'agent', agentParts).pod,
};
export const agentOn = (node: string): Pod =>
  podOf(agentTemplate, `agent-${node}`, {
    ...agentParts,
    node,
    owner: { kind: 'DaemonSet', name: 'agent', uid: 'agent' },
  }).pod;
