import { z } from 'zod';
import { bamelKeys } from '../core/cluster/names.ts';
import { capacityOf, stepOf } from '../core/machine/lifecycle.ts';
import { events, machineEvent } from '../ports/event-types.ts';
import { appendHistory } from '../state/append-history.ts';
import { applyEvent } from '../state/machine-writes.ts';
import { type RequestContext, withRequestLease } from './maintenance.ts';
import { type RequestDeps, type RequestResult, requestPower } from './power.ts';

/** The drain fields of a request. */
const DrainFields = z.strictObject({
  action: z
    .enum(['drain', 'uncordon'])
    .optional()
    .describe(
      'drain: empty it, then power its machine off; uncordon: call that off, or open a cordoned node',
    ),
  last: z.boolean().optional().describe('also if it is the last one that serves'),
  by: z.string().min(1).max(100).optional().describe('who asks; kept with the machine'),
});
export const DrainInput = z
  .strictObject({
    machine: z
      .string()
      .min(1)
      .optional()
      .describe('only this one; otherwise every machine that is to be drained'),
    ...DrainFields.shape,
  })
  .refine(({ machine, action }) => action === undefined || machine !== undefined, {
    path: ['machine'],
    message: 'which machine is meant?',
  });

type DrainRequest = z.output<typeof DrainFields> & { readonly action: 'drain' | 'uncordon' };

/** Starts or cancels a drain for a person; recorded in the machine's history. */
export const requestDrain = (
  deps: RequestDeps,
  machine: string,
  { action, ...how }: DrainRequest,
): Promise<RequestResult> =>
  action === 'drain'
    ? requestPower(deps, machine, { power: 'off', ...how })
    : withRequestLease(deps, machine, how.by, requestUncordon);

async function requestUncordon(context: RequestContext): Promise<RequestResult | undefined> {
  const { deps, record, by, lease, settings, now } = context;
  const { name } = record.spec;
  if (stepOf(record) !== 'drain-node') return uncordonNode(context);
  const why = `${by} called it off`;
  const result = await applyEvent(deps.inventory, record, {
    event: { type: 'drain-aborted', why },
    by,
    lease,
    settings,
    now,
  });
  if (result.kind === 'conflict') return undefined;
  if (result.kind === 'refused') return { ok: false, why: `${name}: ${result.why}` };
  // The drain function uncordons the node.
  await deps.sink?.emit(machineEvent(events.drainAborted, name));
  return { ok: true, answer: `${name} is ${result.to}: its drain is called off` };
}

/** Uncordons a node that a person or an autoscaler cordoned. */
async function uncordonNode({
  deps,
  record,
  by,
  lease,
  now,
}: RequestContext): Promise<RequestResult | undefined> {
  const { spec, status } = record;
  if (capacityOf(record) === 'leaving')
    return { ok: false, why: `${spec.name} is drained and on its way off. Power it on once it is off` };
  if (!deps.cluster)
    return { ok: false, why: `${spec.name} is not being drained: kubectl uncordon opens its node` };
  const node = status.kubernetesNode && (await deps.cluster.node(status.kubernetesNode));
  if (!node) return { ok: false, why: `${spec.name} has no node to open: it is ${status.state}` };
  if (!node.unschedulable) return { ok: true, answer: `${node.name} takes pods already` };
  await deps.cluster.changeNode(node.name, {
    unschedulable: false,
    annotations: { [bamelKeys.cordonedBy]: null },
  });
  const why = `${by} opened node ${node.name}`;
  if (!(await appendHistory(deps.inventory, record, { event: 'uncordoned', by, why, lease, now })))
    return undefined;
  return { ok: true, answer: `${node.name} takes pods again` };
}
