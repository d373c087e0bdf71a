import { z } from 'zod';
import { states } from '../core/machine/lifecycle.ts';

const time = (what: string) => z.string().meta({ description: what, format: 'date-time' });

/** As Kubernetes has them: lastTransitionTime changes with status and with nothing else. */
export const Condition = z.strictObject({
  type: z.string().describe('what it is about, such as Accepted or Ready'),
  status: z.enum(['True', 'False', 'Unknown']).describe('whether it holds'),
  reason: z.string().describe('why, in one word for programs'),
  message: z.string().describe('why, in words for people'),
  observedGeneration: z.int().nonnegative().optional().describe('the generation of the spec it was said of'),
  lastTransitionTime: time('since when the status has been what it is'),
});
export type Condition = z.output<typeof Condition>;

const common = {
  observedGeneration: z
    .int()
    .nonnegative()
    .optional()
    .describe('the generation of the spec that was read last'),
  conditions: z.array(Condition).optional().describe('what holds and what does not, each with the reason'),
};

const Amounts = z.record(z.string(), z.string());

export const NodeStatus = z.strictObject({
  ...common,
  state: z.enum(states).optional().describe('where in its lifecycle the machine is'),
  stateSince: time('since when it has been in that state').optional(),
  powerState: z.enum(['on', 'off', 'unknown']).optional().describe('what its BMC says about its power'),
  bmcReachable: z.boolean().optional().describe('whether its BMC answers'),
  kubernetesNode: z.string().optional().describe('the Node that it is'),
  nodeReady: z.boolean().optional().describe('whether that Node is Ready'),
  operation: z.string().optional().describe('the operation under way'),
  lastPowerAction: z.enum(['on', 'soft-off', 'hard-off']).optional().describe('the last command to its BMC'),
  powerActionTime: time('when that command was written down').optional(),
  bootTime: time('when it was last powered on by us').optional(),
  joinTime: time('when its Node last became Ready').optional(),
  learnedBootTime: z.string().optional().describe('how long it usually takes from power on to a Ready Node'),
  attempts: z.int().nonnegative().optional().describe('failures in a row since it last served'),
  retryAt: time('when it is tried again after a failure').optional(),
  lastError: z
    .strictObject({
      code: z.string().describe('the kind of failure'),
      message: z.string().describe('what went wrong'),
      at: time('when it was noticed'),
    })
    .optional()
    .describe('the last failure'),
  autoscaler: z.string().optional().describe('the BareMetalAutoscaler that operates it, as namespace/name'),
});
export type NodeStatus = z.output<typeof NodeStatus>;

export const PoolStatus = z.strictObject({
  ...common,
  machines: z.int().nonnegative().optional().describe('machines that belong to the pool'),
  readyNodes: z.int().nonnegative().optional().describe('machines that serve as Ready Nodes'),
  pendingNodes: z.int().nonnegative().optional().describe('machines on their way to a Ready Node'),
  desiredNodes: z
    .int()
    .nonnegative()
    .optional()
    .describe('machines that serve or are on their way, as decided last'),
  scalingNodes: z
    .array(
      z.strictObject({
        nodeName: z.string().describe('the machine'),
        action: z.enum(['power-on', 'power-off']).describe('what is being done to it'),
        actionSince: time('since when'),
        state: z.enum(states).describe('where in its lifecycle it is'),
        resources: Amounts.describe('what it gives to the cluster, or will no longer give'),
        reason: z.string().describe('why it was decided'),
      }),
    )
    .optional()
    .describe('machines with an operation under way'),
  availableResources: Amounts.optional().describe('what the machines that are off could give'),
  activeResources: Amounts.optional().describe('what the machines that serve give'),
  pendingResources: Amounts.optional().describe('what the machines on their way will give'),
  unmetPods: z
    .int()
    .nonnegative()
    .optional()
    .describe(
      'waiting pods that one of its machines could run, were it on and empty, and that none could be powered on for; as of the last decision. Beyond 50 kinds of pods, the rest count for every pool',
    ),
  health: z
    .enum(['healthy', 'degraded', 'offline', 'unknown'])
    .optional()
    .describe('degraded: some machines are quarantined or do not answer; offline: all are'),
});
export type PoolStatus = z.output<typeof PoolStatus>;

export const AutoscalerStatus = z.strictObject({
  ...common,
  machines: z.int().nonnegative().optional().describe('machines that it operates'),
  readyNodes: z.int().nonnegative().optional().describe('those that serve as Ready Nodes'),
  unmetPods: z
    .int()
    .nonnegative()
    .optional()
    .describe('waiting pods that no machine could be powered on for, as of the last decision'),
  lastDecision: z
    .strictObject({
      id: z.string().describe('its record: bamel explain decision ID'),
      at: time('when it was made'),
      summary: z.string().describe('what was decided'),
    })
    .optional()
    .describe('the last decision that said something new'),
});
export type AutoscalerStatus = z.output<typeof AutoscalerStatus>;
