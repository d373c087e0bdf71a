import { lifecycle } from '../../shared/core/machine/lifecycle.ts';
import { type Resource, refOf } from '../../shared/ports/resources.ts';
import { formatDuration } from '../../shared/schema/duration.ts';
import type { NodeStatus } from '../../shared/schema/resource-status.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { type Claim, claimOn } from './claims.ts';
import { accepted, type ConditionInput, condition, conditionsFor, deleting, timeText } from './conditions.ts';
import { whyNotOperated } from './operated.ts';
import type { SyncContext } from './sync-context.ts';

const time = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : timeText(ms));

export function nodeStatusOf(
  context: SyncContext,
  node: Resource,
  record: MachineRecord | undefined,
): NodeStatus {
  const claim = claimOn(node, context.seen);
  return {
    observedGeneration: node.generation,
    ...(record && observed(record)),
    autoscaler: claim.kind === 'bound' ? refOf(claim.by) : undefined,
    conditions: conditionsFor(
      node,
      [
        accepted(context, node, 'it is in the inventory'),
        operated(node, claim, record),
        ...(record ? [ready(record)] : []),
        ...deleting(context, node),
      ],
      context.now,
    ),
  };
}

function observed({ status, revisions }: MachineRecord): Partial<NodeStatus> {
  const { state, powerState, bmcReachable, kubernetesNode, nodeReady, operation, lastPowerAction } = status;
  const { attempts, lastError, learnedBootMs } = status;
  return {
    state,
    // A machine that was never read has no stored start of its state: the time would differ in every sync.
    stateSince: revisions.status === 0 ? undefined : time(status.stateSince),
    powerState,
    bmcReachable,
    kubernetesNode,
    nodeReady,
    operation,
    lastPowerAction,
    powerActionTime: time(status.powerActionTime),
    bootTime: time(status.bootTime),
    joinTime: time(status.joinTime),
    learnedBootTime:
      learnedBootMs === undefined ? undefined : formatDuration(Math.round(learnedBootMs / 1000) * 1000),
    attempts,
    retryAt: time(status.retryAt),
    lastError: lastError && { code: lastError.code, message: lastError.message, at: timeText(lastError.at) },
  };
}

function operated(node: Resource, claim: Claim, record: MachineRecord | undefined): ConditionInput {
  const not = whyNotOperated(node, claim, record);
  if (not) return condition('Operated', false, not.reason, not.message);
  if (node.spec.maintenance === true)
    return condition(
      'Operated',
      false,
      'Maintenance',
      'spec.maintenance is set: it is in the hands of a person',
    );
  return condition('Operated', true, 'Bound', claim.kind === 'bound' ? `by ${refOf(claim.by)}` : '');
}

function ready({ status }: MachineRecord): ConditionInput {
  if (status.nodeReady)
    return condition('Ready', true, 'NodeReady', `Node ${status.kubernetesNode} is Ready`);
  const reason = status.state.replace(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
  const { means } = lifecycle[status.state];
  return condition(
    'Ready',
    false,
    reason,
    status.lastError ? `${means}: ${status.lastError.message}` : means,
  );
}
