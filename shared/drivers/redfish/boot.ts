import type { HttpAnswer } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import { PowerError } from '../../ports/power.ts';
import type { Client } from './client.ts';
import type { Options } from './options.ts';
import { type Quirk, quirkOf } from './quirks.ts';
import { type Boot, Bootable, type System } from './schema.ts';
import { readSystem } from './system.ts';
import { finished } from './task.ts';

/** The next boot, and only that, is from the network. Read back: some take it and forget it. */
export async function bootFromNetwork(
  client: Client,
  clock: Clock,
  path: string,
  bootMode: Options['bootMode'],
): Promise<void> {
  const { fail, who } = client.peer;
  const system = await readSystem(client, path);
  const quirk = quirkOf(system.Manufacturer);
  const { at, boot, etag } = await whereToSet(client, system, path);
  const targets = boot['BootSourceOverrideTarget@Redfish.AllowableValues'];
  if (targets && !targets.includes('Pxe'))
    throw fail('refused', `${who} cannot boot from the network, only from ${targets.join(', ')}`);
  const wanted = overrideOf(boot, quirk, bootMode);
  const answer = await patch(client, at, { Boot: wanted }, tagsToTry(etag, quirk));
  await finished(client, clock, client.accepted(answer, quirk));

  const { Boot: set } = await client.get(Bootable, at, 'boot settings');
  const forgotten = Object.entries(wanted).filter(([field, value]) => set?.[field] !== value);
  if (forgotten.length === 0) return;
  const [field, value] = forgotten[0] ?? [];
  throw fail(
    'refused',
    `${who} took ${field} ${value} and shows ${JSON.stringify(set?.[field ?? ''])}: it would boot otherwise than asked. Try another redfish.bootMode, or set up its boot order by hand`,
  );
}

/** Where a settings resource holds Boot it belongs there, else to the system itself. */
async function whereToSet(
  client: Client,
  system: System,
  path: string,
): Promise<{ at: string; boot: Boot; etag: string | undefined }> {
  const settings = system['@Redfish.Settings']?.SettingsObject['@odata.id'];
  for (const at of settings ? [settings, path] : [path]) {
    const { value, etag } = await client.getTagged(Bootable, at, 'boot settings').catch((error: unknown) => {
      // Some link to settings that they do not have.
      if (at === settings && error instanceof PowerError && error.code === 'refused')
        return { value: undefined, etag: undefined };
      throw error;
    });
    if (value?.Boot) return { at, boot: value.Boot, etag: etag ?? value['@odata.etag'] ?? undefined };
  }
  throw client.peer.fail('refused', `${client.peer.who} does not let its boot source be changed`);
}

function overrideOf(
  boot: Boot,
  { bootFields }: Quirk,
  bootMode: Options['bootMode'],
): Record<string, unknown> {
  const mode = bootMode ?? boot.BootSourceOverrideMode ?? 'UEFI';
  const others = Object.entries(boot).filter(([field]) => /^BootSourceOverride\w+$/.test(field));
  return {
    ...(bootFields === 'all' && Object.fromEntries(others)),
    ...((bootMode || bootFields) && { BootSourceOverrideMode: mode }),
    BootSourceOverrideTarget: 'Pxe',
    BootSourceOverrideEnabled: 'Once',
  };
}

/** As it was given, then weak or strong instead, then none at all: BMCs disagree with their own ETags. */
function tagsToTry(etag: string | undefined, { needsIfMatch }: Quirk): (string | undefined)[] {
  if (etag === undefined) return needsIfMatch ? ['*', undefined] : [undefined, '*'];
  const other = etag.startsWith('W/') ? etag.slice(2) : `W/${etag}`;
  return [etag, other, undefined];
}

const preconditionFailed = 412;
const preconditionRequired = 428;

async function patch(
  client: Client,
  path: string,
  body: object,
  tags: readonly (string | undefined)[],
): Promise<HttpAnswer> {
  let answer: HttpAnswer | undefined;
  for (const tag of tags) {
    answer = await client.send('PATCH', path, body, tag === undefined ? {} : { 'if-match': tag });
    if (answer.status !== preconditionFailed && answer.status !== preconditionRequired) return answer;
  }
  if (!answer) throw new Error('there is always a tag to try');
  return answer;
}
