import type { Power, PowerVerb } from '../../core/machine/machine.ts';
import type { Clock } from '../../ports/clock.ts';
import { PowerError } from '../../ports/power.ts';
import type { Client } from './client.ts';
import { quirkOf } from './quirks.ts';
import { ActionInfo, type System } from './schema.ts';
import { readingOf, readSystem } from './system.ts';
import { finished } from './task.ts';

/** Set-state values only, the preferred first; PushPowerButton would be a toggle. */
const resets: Readonly<Record<PowerVerb, { readonly types: readonly string[]; readonly goal: Power }>> = {
  on: { types: ['On', 'ForceOn'], goal: 'on' },
  'soft-off': { types: ['GracefulShutdown'], goal: 'off' },
  'hard-off': { types: ['ForceOff'], goal: 'off' },
};

type ResetAction = NonNullable<NonNullable<System['Actions']>['#ComputerSystem.Reset']>;

export async function reset(client: Client, clock: Clock, path: string, verb: PowerVerb): Promise<void> {
  const { fail, who } = client.peer;
  const system = await readSystem(client, path);
  const action = system.Actions?.['#ComputerSystem.Reset'];
  if (!action) throw fail('refused', `${who} offers no reset action`);
  const { types, goal } = resets[verb];
  const allowed = await allowedTypes(client, action);
  const type = allowed ? types.find((candidate) => allowed.includes(candidate)) : types[0];
  if (type === undefined)
    throw fail('refused', `${who} does not know ${types[0]}, only ${allowed?.join(', ')}`);
  // No If-Match: some answer 412 to it on an action.
  const answer = await client.send('POST', action.target, { ResetType: type });
  try {
    client.accepted(answer, quirkOf(system.Manufacturer));
  } catch (error) {
    // Some refuse to do what is so already.
    const refused = answer.status === 400 || answer.status === 409;
    if (!refused || readingOf(await readSystem(client, path)).power !== goal) throw error;
  }
  await finished(client, clock, answer);
}

async function allowedTypes(client: Client, action: ResetAction): Promise<readonly string[] | undefined> {
  const annotated = action['ResetType@Redfish.AllowableValues'] ?? undefined;
  const info = action['@Redfish.ActionInfo'];
  if (!info) return annotated;
  try {
    const { Parameters } = await client.get(ActionInfo, info, 'action info');
    return Parameters.find(({ Name }) => Name === 'ResetType')?.AllowableValues ?? annotated;
  } catch (error) {
    // A link to nowhere: what the action itself says has to do.
    if (error instanceof PowerError && error.code === 'refused') return annotated;
    throw error;
  }
}
