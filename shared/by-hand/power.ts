import { z } from 'zod';
import type { Node } from '../core/cluster/cluster.ts';
import { protectedBy } from '../core/cluster/protect.ts';
import { capacityOf, lifecycle, type MachineEvent } from '../core/machine/lifecycle.ts';
import type { Settings } from '../core/settings.ts';
import type { Cluster } from '../ports/cluster.ts';
import { events, machineEvent } from '../ports/event-types.ts';
import type { EventSink } from '../ports/events.ts';
import { newId } from '../process/ids.ts';
import { type LeaseDeps, underMachineLease } from '../state/leases.ts';
import type { MachineRecord } from '../state/machine-record.ts';
import { applyEvent } from '../state/machine-writes.ts';

/** The power fields of a request. */
export const PowerFields = z.strictObject({
  power: z.enum(['on', 'off']).optional().describe('power it on, or drain it and power it off'),
  drain: z.boolean().optional().describe('false: cut the power at once, whatever runs on it'),
  last: z.boolean().optional().describe('also if it is the last one that serves'),
  by: z.string().min(1).max(100).optional().describe('who asks; kept with the operation'),
});

export type PowerRequest = z.output<typeof PowerFields> & { readonly power: 'on' | 'off' };

export type RequestResult =
  | { readonly ok: true; readonly operation?: string | undefined; readonly answer: string }
  | { readonly ok: false; readonly why: string };

/** Also available to the CLI when it works on the store directly. */
export interface RequestDeps extends LeaseDeps {
  readonly cluster?: Cluster | undefined;
  readonly sink?: EventSink | undefined;
}

/** How long to wait for the machine's lease. */
const patienceMs = 5_000;

/** Starts the requested operation; the functions on the same store run it. */
export async function requestPower(
  deps: RequestDeps,
  machine: string,
  request: PowerRequest,
): Promise<RequestResult> {
  const settings = await deps.inventory.settings();
  const asked = await underMachineLease(deps, machine, settings, { ms: patienceMs }, async (lease) => {
    const record = await deps.inventory.machine(machine);
    if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
    const refused =
      request.power === 'off' ? await powerOffRefusal(deps, record, request, settings) : undefined;
    if (refused) return { ok: false, why: `${machine} is not powered off: ${refused}` } as const;
    const now = deps.clock.now();
    const operation = newId('op', now);
    const event = eventFor(record, request, operation);
    if (typeof event === 'string') {
      const answer = `${machine} ${event}`;
      return { ok: true, answer, operation: record.status.operation } as const;
    }
    const why = `${request.by ?? 'somebody'} asked for it`;
    const result = await applyEvent(deps.inventory, record, {
      event,
      by: request.by ?? 'by hand',
      why,
      begins: {
        id: operation,
        machine,
        goal: request.power,
        why,
        ...(request.last && { last: true }),
        spec: record.input,
        createdAt: now,
        commands: [],
      },
      lease,
      settings,
      now,
    });
    if (result.kind === 'refused') return { ok: false, why: `${machine}: ${result.why}` } as const;
    if (result.kind === 'conflict')
      return { ok: false, why: `${machine} was changed by somebody else just now: ask again` } as const;
    const wakes = event.type === 'drain-requested' ? events.drainRequested : events.powerRequested;
    await deps.sink?.emit(machineEvent(wakes, machine));
    return { ok: true, operation, answer: `${machine} is ${result.to}` } as const;
  });
  return asked ?? { ok: false, why: `${machine} is being worked on: ask again in a few seconds` };
}

/** The event that starts it, or why nothing is started. */
function eventFor(record: MachineRecord, request: PowerRequest, operation: string): MachineEvent | string {
  const { on, means } = lifecycle[record.status.state];
  const capacity = capacityOf(record);
  if (request.power === 'on') {
    const already = capacity === 'coming' || capacity === 'serving';
    return already ? `is on its way or on already (${means})` : { type: 'power-on-requested', operation };
  }
  if (capacity === 'none' && record.status.powerState === 'off' && !record.status.operation)
    return 'is off already';
  if (capacity === 'leaving') return `is on its way off already (${means})`;
  if (request.drain === false) return { type: 'cut-requested', operation };
  if (on['power-off-requested'] && !on['drain-requested']) return { type: 'power-off-requested', operation };
  return { type: 'drain-requested', operation };
}

/** Refuses power-offs that are likely mistakes, and says how to override. */
async function powerOffRefusal(
  { inventory, cluster }: RequestDeps,
  record: MachineRecord,
  { last }: PowerRequest,
  { protect }: Settings,
): Promise<string | undefined> {
  const nodes = (await cluster?.view())?.nodes;
  const name = record.status.kubernetesNode ?? record.spec.name;
  const node: Pick<Node, 'name' | 'labels'> = nodes?.find((one) => one.name === name) ?? { name, labels: {} };
  const protection = protectedBy(record, node, protect);
  if (protection) return `it is protected by ${protection}`;
  if (last || capacityOf(record) !== 'serving') return undefined;
  const others = nodes
    ? nodes.some((one) => one.name !== name && one.ready && !one.unschedulable)
    : (await inventory.machines()).some(
        (one) => one.spec.name !== record.spec.name && capacityOf(one) === 'serving',
      );
  return others ? undefined : 'it is the last one that serves; ask for “also the last” if that is meant';
}
