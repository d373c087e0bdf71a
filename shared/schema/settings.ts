import { z } from 'zod';
import { scriptProblem } from '../core/machine/boot.ts';
import { defaultPolicies, policyNames } from '../core/scale-up/policy-names.ts';
import type { Settings as CoreSettings } from '../core/settings.ts';
import { Budget } from './budget.ts';
import { durationMs } from './duration.ts';
import { Percent } from './percent.ts';
import { ceilings } from './pool.ts';
import { Remote } from './remote.ts';
import { TimingsInput } from './timings.ts';

const perMinute = (where: string) =>
  z.int().nonnegative().default(0).describe(`power-ons per minute ${where}; 0 = unbounded`);

const BootScript = z
  .string()
  .max(100_000)
  .superRefine((script, context) => {
    const message = scriptProblem(script);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .describe('the text of an iPXE script; {{name}}, {{macAddress}} and such stand for fields of the machine');

const LabelSelector = z
  .strictObject({ matchLabels: z.record(z.string(), z.string()).default({}).describe('all of these labels') })
  .optional();

/** Settings for all pools, as written by people. */
export const Settings = z
  .strictObject({
    selectors: z
      .strictObject({
        pools: LabelSelector.describe('pools with these labels; all unless given'),
        machines: LabelSelector.describe('machines with these labels; all unless given'),
      })
      .prefault({})
      .describe('what it is responsible for, as a custom resource'),
    protect: z
      .array(z.string().min(1))
      .default(['control-plane'])
      .describe('never powered off: control-plane, name=NAME, a label key, or key=value'),
    dryRun: z.boolean().default(false).describe('decide and record, do nothing'),
    deletionPolicy: z
      .enum(['leave', 'power-off'])
      .default('leave')
      .describe('what becomes of its machines when the custom resource is deleted'),
    thresholds: z
      .strictObject({
        scaleUp: Percent.prefault('70%').describe(
          'a pool used more than this gets another machine when the scheduler refuses pods for long',
        ),
        scaleDown: Percent.prefault('30%').describe(
          'a machine used less than this, of cpu, memory or GPUs, may be emptied',
        ),
        for: durationMs.prefault('10m').describe('for how long, before it is drained'),
      })
      .prefault({})
      .describe('how full is full, and how empty is empty'),
    scaleUp: z
      .strictObject({
        stabilizationWindow: durationMs
          .prefault('0s')
          .describe('pods wait this long before a machine is powered on for them'),
      })
      .prefault({})
      .describe('how the cluster grows'),
    scaleDown: z
      .strictObject({
        requireProvenCycle: z
          .boolean()
          .default(true)
          .describe('only a machine that has come back from off before is powered off unasked'),
        weighBoot: z
          .boolean()
          .default(true)
          .describe('a machine stays on until idling has cost what booting it again will'),
        replace: z
          .boolean()
          .default(true)
          .describe('exchange a machine for an off one that does the same for fewer watts'),
        moveLocalStorage: z
          .boolean()
          .default(false)
          .describe('pods with data on the node (emptyDir, hostPath) may be moved, and lose it'),
        countDaemonSets: z
          .boolean()
          .default(false)
          .describe('DaemonSet pods count towards the use of a node'),
        unready: z
          .strictObject({
            count: z.int().nonnegative().default(3).describe('more nodes than this'),
            share: Percent.prefault('45%').describe("and a larger share of the pool's nodes than this"),
          })
          .prefault({})
          .describe('nothing of a pool is powered off while more of its nodes than both are not Ready'),
      })
      .prefault({})
      .describe('how the cluster shrinks'),
    limits: z
      .strictObject(ceilings)
      .prefault({})
      .describe('over all pools, nodes that are no machine of ours included'),
    cooldowns: z
      .strictObject({
        afterScaleUp: durationMs
          .prefault('0s')
          .describe('no machine of a pool leaves for this long after one was powered on'),
        afterScaleDown: durationMs.prefault('0s').describe('likewise, after one began to leave'),
        afterFailure: durationMs.prefault('3m').describe('likewise, after one failed'),
      })
      .prefault({})
      .describe('pauses'),
    rateLimits: z
      .strictObject({
        perMinute: perMinute('in all'),
        perRack: perMinute('in a rack'),
        perCircuit: perMinute('on a power circuit'),
      })
      .prefault({})
      .describe('against inrush'),
    budgets: z
      .array(Budget)
      .default([])
      .describe('how many machines may be leaving at once, over all pools; the most restrictive wins'),
    policies: z
      .array(z.enum(policyNames))
      .min(1)
      .default([...defaultPolicies])
      .describe(
        'order of preference among machines: the first policy that distinguishes two of them decides',
      ),
    pressure: z
      .strictObject({
        threshold: Percent.prefault('70%').describe('rising pressure from this level on asks for a machine'),
        useful: z.number().nonnegative().default(1).describe('weight of the resource that is short'),
        others: z.number().nonnegative().default(0.25).describe('weight of every other resource'),
      })
      .prefault({})
      .describe('what pressure on nodes asks for'),
    priorityCutoff: z.int().default(-10).describe('pods of a lower priority neither get nor keep a machine'),
    bootProfiles: z
      .record(z.string().min(1), BootScript)
      .default({})
      .describe('iPXE scripts, by the name that machines have as bootProfile'),
    remote: Remote,
    timings: TimingsInput,
  })
  .transform(
    ({
      thresholds,
      scaleUp,
      scaleDown,
      cooldowns,
      selectors: _,
      deletionPolicy: __,
      ...settings
    }): CoreSettings => ({
      ...settings,
      ...scaleDown,
      scaleUpThreshold: thresholds.scaleUp,
      scaleDownThreshold: thresholds.scaleDown,
      unneededForMs: thresholds.for,
      stabilizationWindowMs: scaleUp.stabilizationWindow,
      cooldowns: {
        afterScaleUpMs: cooldowns.afterScaleUp,
        afterScaleDownMs: cooldowns.afterScaleDown,
        afterFailureMs: cooldowns.afterFailure,
      },
    }),
  );
