import { z } from 'zod';

/** As Kubernetes selects by label. Nothing given selects everything. */
export const LabelSelector = z.strictObject({
  matchLabels: z
    .record(z.string(), z.string())
    .optional()
    .describe('labels that must be there with these values'),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1).describe('the label'),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('how it is compared'),
        values: z.array(z.string()).optional().describe('for In and NotIn'),
      }),
    )
    .optional()
    .describe('further conditions; all of them must hold'),
});
export type LabelSelector = z.output<typeof LabelSelector>;

/** Fields of a BareMetalAutoscaler besides the settings that it shares with the file. */
export const AutoscalerBinding = z.strictObject({
  selectors: z
    .strictObject({
      machines: LabelSelector.optional().describe('labels of the BareMetalNodes; absent: all of them'),
      pools: LabelSelector.optional().describe('labels of their NodePools; absent: all of them'),
    })
    .optional()
    .describe(
      'which machines it operates: those that match, of pools that match. A machine that two autoscalers select is left alone',
    ),
  deletionPolicy: z
    .enum(['leave', 'power-off'])
    .default('leave')
    .describe('when it is deleted: leave its machines as they are, or drain and power them off first'),
});
export type AutoscalerBinding = z.output<typeof AutoscalerBinding>;

export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const holds: Readonly<Record<string, (key: string, values: readonly string[]) => boolean>> = {
    In: (key, values) => has(key) && values.includes(labels[key] ?? ''),
    // As in Kubernetes: a label that is not there is not in.
    NotIn: (key, values) => !has(key) || !values.includes(labels[key] ?? ''),
    Exists: has,
    DoesNotExist: (key) => !has(key),
  };
  return (
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector?.matchExpressions ?? []).every(({ key, operator, values = [] }) =>
      holds[operator]?.(key, values),
    )
  );
}
