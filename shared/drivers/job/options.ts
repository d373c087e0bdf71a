import { z } from 'zod';
import { durationMs } from '../../schema/duration.ts';
import { Probe } from '../common/evidence.ts';

const DnsLabel = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and - only');

const PodSpec = z.looseObject({
  containers: z.array(z.looseObject({ name: DnsLabel, image: z.string().min(1) })).min(1),
  restartPolicy: z.enum(['Never', 'OnFailure']).optional(),
});

/** As Kubernetes has it: the API server checks the rest, and nothing of it may get lost on the way there. */
const PodTemplate = z
  .strictObject({
    metadata: z
      .strictObject({
        labels: z.record(z.string(), z.string()).optional().describe('of the pod'),
        annotations: z.record(z.string(), z.string()).optional().describe('of the pod'),
      })
      .optional()
      .describe('labels and annotations of the pod'),
    spec: z.record(z.string(), z.unknown()).pipe(PodSpec).describe('of the pod, as in Kubernetes'),
  })
  .describe('a pod template; BAMEL_MACHINE, BAMEL_MAC_ADDRESS, BAMEL_ADDRESS … are in its environment');

export type PodTemplate = z.output<typeof PodTemplate>;

const deadline = durationMs.refine((ms) => ms >= 1_000, { error: 'at least 1s' });

export const JobOptions = z.strictObject({
  namespace: DnsLabel.optional().describe('where its Jobs run; when not set, our own'),
  serviceAccountName: z.string().min(1).optional().describe('whose rights the pods have'),
  deadline: deadline.default(300_000).describe('a Job that takes longer has failed'),
  retries: z.int().min(0).max(10).default(0).describe('how often a pod that failed is started again'),
  keepFor: durationMs.default(3_600_000).describe('how long a finished Job is kept, to be looked at'),
  startup: PodTemplate.optional().describe('the pod that powers it on'),
  shutdown: PodTemplate.optional().describe('the pod that shuts it down'),
  healthCheck: z
    .strictObject({
      schedule: z
        .string()
        .regex(/^\S+( \S+){4}$/, 'five fields, as of cron: */1 * * * *')
        .describe('when it runs'),
      template: PodTemplate,
      freshFor: deadline.default(300_000).describe('a result that is older says nothing'),
    })
    .optional()
    .describe('a pod that succeeds while the machine is on, run again and again'),
  probe: Probe.optional(),
});

export type JobOptions = z.output<typeof JobOptions>;
