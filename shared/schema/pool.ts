import { z } from 'zod';
import { policyNames } from '../core/scale-up/policy-names.ts';
import type { PoolSpec as Spec } from '../core/settings.ts';
import { Budget } from './budget.ts';
import { durationMs } from './duration.ts';
import { Name } from './name.ts';
import { Percent } from './percent.ts';
import { headroomResources, Quantity, Taint } from './quantity.ts';
import { Template, toTemplate } from './template.ts';
import { toWindow, windowFields } from './window.ts';

const count = (meaning: string) => z.int().nonnegative().default(0).describe(meaning);

export const ceilings = {
  maxNodes: count('at most this many on, those that are coming or leaving included; 0 = unbounded'),
  cpuCores: count('at most this many cpu cores on; 0 = unbounded'),
  memoryMiB: count('at most this much memory on; 0 = unbounded'),
  hourlyCost: z
    .number()
    .nonnegative()
    .default(0)
    .describe('what all that is on may cost in an hour, by pricing.hourlyRate; 0 = unbounded'),
} as const;

const Trigger = z.strictObject({
  name: z.string().min(1).optional().describe('what records call it; its query unless given'),
  metricQuery: z.string().min(1).describe('PromQL that gives one number'),
  threshold: z.number().describe('what the number is compared with'),
  duration: durationMs.prefault('0s').describe('for how long it must hold'),
  scaleDirection: z
    .enum(['up', 'down'])
    .default('up')
    .describe('up: above the threshold requests one more machine; down: no machine leaves unless below it'),
});

const PoolLimits = z
  .strictObject({ minNodes: count('kept on, needed or not'), ...ceilings })
  .prefault({})
  .describe('how many machines of it may be on')
  .refine(({ minNodes, maxNodes }) => maxNodes === 0 || minNodes <= maxNodes, {
    path: ['minNodes'],
    message: 'must not exceed maxNodes',
  });

/** A pool as people write it. */
export const PoolSpec = z
  .strictObject({
    name: Name.describe('what machines name as their pool'),
    managedBy: z
      .enum(['bamel', 'clusterAutoscaler'])
      .default('bamel')
      .describe('who decides: clusterAutoscaler leaves it to the stock Cluster Autoscaler'),
    priority: z
      .int()
      .default(0)
      .describe('pools with more are used first, where the policy "priority" decides'),
    limits: PoolLimits,
    template: Template,
    scaleUp: z
      .strictObject({
        batchSize: count('at most this many on their way at once; 0 = unbounded'),
        stabilizationWindow: durationMs
          .optional()
          .describe('pods wait this long before a machine of it is powered on for them'),
        thresholds: z
          .strictObject({
            utilization: Percent.optional().describe('instead of autoscaler.thresholds.scaleUp'),
          })
          .prefault({})
          .describe('when it is full'),
      })
      .prefault({})
      .describe('how it grows'),
    scaleDown: z
      .strictObject({
        maxConcurrent: z
          .int()
          .nonnegative()
          .default(10)
          .describe('at most this many leaving at once; 0 = unbounded'),
        unneededFor: durationMs
          .optional()
          .describe('how long nothing must have needed a machine before it is drained'),
        drainTimeout: durationMs
          .prefault('10m')
          .describe('a drain that takes longer is aborted: the node is uncordoned, the machine stays on'),
        thresholds: z
          .strictObject({
            utilization: Percent.optional().describe('instead of autoscaler.thresholds.scaleDown'),
          })
          .prefault({})
          .describe('when a machine is hardly used'),
      })
      .prefault({})
      .describe('how it shrinks'),
    triggers: z.array(Trigger).default([]).describe('metrics that request machines, or keep them'),
    budgets: z
      .array(Budget)
      .default([])
      .describe('how many may be leaving at once; the most restrictive wins'),
    schedule: z
      .array(
        z.strictObject({
          ...windowFields,
          minNodes: z.int().nonnegative().describe('so many are on while the window is open'),
        }),
      )
      .default([])
      .describe('times at which more than minNodes are on; powered on a boot time ahead'),
    prewarm: z
      .strictObject({
        confidence: z
          .number()
          .min(0.5)
          .max(0.999)
          .default(0.95)
          .describe('how sure the forecast is to be that enough machines are on when they are needed'),
        horizon: durationMs
          .prefault('1h')
          .describe('idle machines stay on that are more likely than not to be needed within this'),
      })
      .optional()
      .describe(
        'powers machines on ahead of need, within all limits, once there is a week of history; bamel replay shows what it would change',
      ),
    headroom: z
      .strictObject({
        cpu: Quantity.optional().describe('cpu kept free'),
        memory: Quantity.optional().describe('memory kept free'),
        gpu: z.int().nonnegative().optional().describe('GPUs kept free'),
      })
      .prefault({})
      .describe('kept free beyond all demand'),
    policies: z
      .array(z.enum(policyNames))
      .min(1)
      .optional()
      .describe('instead of autoscaler.policies, among machines of this pool'),
    startupTaints: z
      .array(Taint)
      .default([])
      .describe('on its nodes until they are initialized: no reason not to count on them'),
    nodeSelector: z
      .record(z.string(), z.string())
      .default({})
      .describe('nodes with these labels ought to be machines of this pool; others are reported'),
    provisionTimeout: durationMs
      .prefault('15m')
      .describe('from power on to a Ready node, until the machine is known to be faster'),
    recovery: z
      .strictObject({
        policy: z
          .enum(['wait', 'replace', 'power-cycle'])
          .default('replace')
          .describe(
            'wait: nothing; replace: quarantined, another is powered on; power-cycle: powered off, to start afresh',
          ),
        notReadyFor: durationMs.prefault('10m').describe('how long its node must have been NotReady'),
        maxPerHour: z.int().positive().default(2).describe('at most so many power cycles of the pool'),
      })
      .prefault({})
      .describe('what becomes of a machine whose node stays NotReady'),
  })
  .transform(
    ({
      template,
      scaleUp,
      scaleDown,
      triggers,
      schedule,
      headroom,
      prewarm,
      provisionTimeout,
      recovery,
      ...pool
    }): Spec => ({
      ...pool,
      template: toTemplate(template, pool.name),
      scaleUp: {
        batchSize: scaleUp.batchSize,
        stabilizationWindowMs: scaleUp.stabilizationWindow,
        threshold: scaleUp.thresholds.utilization,
      },
      scaleDown: {
        maxConcurrent: scaleDown.maxConcurrent,
        unneededForMs: scaleDown.unneededFor,
        drainTimeoutMs: scaleDown.drainTimeout,
        threshold: scaleDown.thresholds.utilization,
      },
      triggers: triggers.map(({ name, duration, ...trigger }) => ({
        ...trigger,
        name: name ?? trigger.metricQuery,
        durationMs: duration,
      })),
      schedule: schedule.map(({ minNodes, ...window }) => ({ ...toWindow(window), minNodes })),
      headroom: headroomResources(headroom),
      ...(prewarm && { prewarm: { confidence: prewarm.confidence, horizonMs: prewarm.horizon } }),
      provisionTimeoutMs: provisionTimeout,
      recovery: {
        policy: recovery.policy,
        notReadyForMs: recovery.notReadyFor,
        maxPerHour: recovery.maxPerHour,
      },
    }),
  );
