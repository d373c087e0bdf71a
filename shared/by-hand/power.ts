import { z } from 'zod';
import { type Deps, underMachineLease } from '../../functions/deps.ts';
import type { Node } from '../core/cluster/cluster.ts';
import { protectedBy } from '../core/cluster/protect.ts';
import { capacityOf, lifecycle, type MachineEvent } from '../core/machine/lifecycle.ts';
import type { Settings } from '../core/settings.ts';
import { events, machineEvent } from '../ports/event-types.ts';
import { newId } from '../process/ids.ts';
import type { MachineRecord } from '../state/inventory.ts';
import { happen } from '../state/machine-writes.ts';

/** What a person may ask of a machine. */
export const ByHand = z.strictObject({
  power: z.enum(['on', 'off']).optional().describe('power it on, or drain it and power it off'),
  drain: z.boolean().optional().describe('false: cut the power at once, whatever runs on it'),
  last: z.boolean().optional().describe('also if it is the last one that serves'),
  by: z.string().min(1).max(100).optional().describe('who asks; kept with the operation'),
});

export type Wish = z.output<typeof ByHand> & { readonly power: 'on' | 'off' };

export type Asked =
  | { readonly ok: true; readonly operation?: string | undefined; readonly answer: string }
  | { readonly ok: false; readonly why: string };

/** What the command line has of it, too, when it works on the store itself. */
export type Hands = Pick<Deps, 'inventory' | 'clock' | 'owner'> & {
  readonly cluster?: Deps['cluster'] | undefined;
  readonly sink?: Deps['sink'] | undefined;
};

/** How long to wait for whoever is at the machine. */
const patienceMs = 5_000;

/** Begins what a person asks for, as an operation like any other: whoever runs on the store carries it out. */
export async function byHand(hands: Hands, machine: string, wish: Wish): Promise<Asked> {
  const settings = await hands.inventory.settings();
  const asked = await underMachineLease(hands, machine, settings, { ms: patienceMs }, async (lease) => {
    const record = await hands.inventory.machine(machine);
    if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
    const refused = wish.power === 'off' ? await whyNotOff(hands, record, wish, settings) : undefined;
    if (refused) return { ok: false, why: `${machine} is not powered off: ${refused}` } as const;
    const now = hands.clock.now();
    const operation = newId('op', now);
    const event = eventFor(record, wish, operation);
    if (typeof event === 'string') {
      const answer = `${machine} ${event}`;
      return { ok: true, answer, operation: record.status.operation } as const;
    }
    const why = `${wish.by ?? 'somebody'} asked for it`;
    const result = await happen(hands.inventory, record, {
      event,
      by: wish.by ?? 'by hand',
      why,
      begins: {
        id: operation,
        machine,
        goal: wish.power,
        why,
        ...(wish.last && { last: true }),
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
    await hands.sink?.emit(machineEvent(wakes, machine));
    return { ok: true, operation, answer: `${machine} is ${result.to}` } as const;
  });
  return asked ?? { ok: false, why: `${machine} is being worked on: ask again in a few seconds` };
}

/** The event that begins it, or why nothing is to be begun. */
function eventFor(record: MachineRecord, wish: Wish, operation: string): MachineEvent | string {
  const { on, means } = lifecycle[record.status.state];
  const capacity = capacityOf(record);
  if (wish.power === 'on') {
    const already = capacity === 'coming' || capacity === 'serving';
    return already ? `is on its way or on already (${means})` : { type: 'power-on-requested', operation };
  }
  if (capacity === 'none' && record.status.powerState === 'off' && !record.status.operation)
    return 'is off already';
  if (capacity === 'leaving') return `is on its way off already (${means})`;
  if (wish.drain === false) return { type: 'cut-requested', operation };
  if (on['power-off-requested'] && !on['drain-requested']) return { type: 'power-off-requested', operation };
  return { type: 'drain-requested', operation };
}

/** People are kept from what they would regret at once, and told how to say that they mean it. */
async function whyNotOff(
  { inventory, cluster }: Hands,
  record: MachineRecord,
  { last }: Wish,
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
