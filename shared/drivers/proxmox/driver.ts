import type { MachineSpec, Power, PowerVerb } from '../../core/machine/machine.ts';
import { type DriverDefinition, type DriverDeps, type PowerDriver, PowerError } from '../../ports/power.ts';
import { failureOf } from '../common/failure.ts';
import { type Api, createApi } from './api.ts';
import { bytesNeeded, configOf, freeId, markerOf } from './make.ts';
import { Options } from './options.ts';
import {
  allGuests,
  configOfGuest,
  currentOf,
  findExisting,
  findMade,
  type Guest,
  hasTag,
  inRange,
  roomiestHost,
} from './vm.ts';

const uses = ['clock', 'credentials', 'resolve'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

/** A guest takes its time to shut down: whether the task is refused shows at once. */
const shutdownGlanceMs = 1_000;

function create(spec: MachineSpec, options: Options, deps: Deps): PowerDriver {
  const api = createApi(spec, options, deps);
  if (!spec.made && options.vmid === undefined) throw failureOf(spec)('config', 'set proxmox.vmid to its VM');
  if (spec.made && !options.vmIDRange)
    throw failureOf(spec)('config', 'machines made on demand need proxmox.vmIDRange');

  const find = async (signal: AbortSignal): Promise<Guest | undefined> => {
    const guests = await allGuests(api, signal);
    return options.vmid === undefined
      ? findMade(api, spec, options, guests, signal)
      : findExisting(spec, options.vmid, guests);
  };

  const driver: PowerDriver = {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: false, sensors: false },
    async read(signal) {
      const guest = await find(signal);
      if (!guest) return { power: 'off', exists: false };
      const { status } = await currentOf(api, guest, signal);
      const power: Power = status === 'running' ? 'on' : 'off';
      return spec.systemUUID
        ? { power, exists: true, systemUUID: uuidIn((await configOfGuest(api, guest, signal)).smbios1) }
        : { power, exists: true };
    },
    async set(verb, signal) {
      const guest = await find(signal);
      if (verb !== 'on') return guest && stop(api, guest, verb, options, signal);
      const made = guest ?? (await make(api, spec, options, signal));
      if (spec.made) await complete(api, made, spec, options, signal);
      await start(api, made, signal);
    },
  };
  if (!spec.made) return driver;
  return {
    ...driver,
    async release(signal) {
      const guest = await find(signal);
      if (!guest) return;
      await complete(api, guest, spec, options, signal);
      await destroy(api, guest, options, signal);
    },
  };
}

/** Creates or clones the VM. After a crash anywhere in here the next try finds it by its name and marker. */
async function make(api: Api, spec: MachineSpec, options: Options, signal: AbortSignal): Promise<Guest> {
  const guests = await allGuests(api, signal);
  const vmid = freeId(spec.name, options, new Set(guests.map((guest) => guest.vmid)));
  if (vmid === undefined) throw failureOf(spec)('refused', 'every id of proxmox.vmIDRange is in use');
  const host = await roomiestHost(api, spec, options, bytesNeeded(spec), signal);
  const named = { name: spec.name, description: markerOf(spec.name) };
  if (!options.template) {
    const body = { ...configOf(spec, options), ...named, vmid: String(vmid) };
    await api.task('POST', host, `/nodes/${host}/qemu`, body, signal);
    return { vmid, node: host, type: 'qemu' };
  }
  const template = guests.find((guest) => guest.vmid === options.template?.vmid);
  if (!template) throw failureOf(spec)('config', `there is no VM ${options.template.vmid} to clone`);
  const { full, storage } = options.template;
  const body = {
    ...named,
    newid: String(vmid),
    full: String(Number(full)),
    ...(host !== template.node && { target: host }),
    ...(storage && full && { storage }),
  };
  const path = `/nodes/${template.node}/qemu/${template.vmid}/clone`;
  await api.task('POST', template.node, path, body, signal);
  return { vmid, node: host, type: 'qemu' };
}

/** A clone has the size of its template until it is configured. A running VM is not changed. */
async function complete(
  api: Api,
  guest: Guest,
  spec: MachineSpec,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  const config = await configOfGuest(api, guest, signal);
  if (config.lock) throw failureOf(spec)('busy', `Proxmox is still at its VM ${guest.vmid} (${config.lock})`);
  if (!options.template || hasTag(config.tags, options.managedTag)) return;
  const path = `/nodes/${guest.node}/qemu/${guest.vmid}/config`;
  await api.send('PUT', path, configOf(spec, options), signal);
}

async function start(api: Api, guest: Guest, signal: AbortSignal): Promise<void> {
  if ((await currentOf(api, guest, signal)).status === 'running') return;
  await api.task('POST', guest.node, `/nodes/${guest.node}/qemu/${guest.vmid}/status/start`, {}, signal);
}

async function stop(
  api: Api,
  guest: Guest,
  verb: PowerVerb,
  { shutdownTimeout }: Options,
  signal: AbortSignal,
): Promise<void> {
  if ((await currentOf(api, guest, signal)).status === 'stopped') return;
  const path = `/nodes/${guest.node}/qemu/${guest.vmid}/status`;
  if (verb === 'hard-off') {
    // The shutdown that was ignored still holds the VM: it is called off.
    await api.task('POST', guest.node, `${path}/stop`, { 'overrule-shutdown': '1' }, signal);
    return;
  }
  const body = { timeout: String(shutdownTimeout) };
  await api.task('POST', guest.node, `${path}/shutdown`, body, signal, shutdownGlanceMs);
}

/** Deletes the VM and waits until it is gone. Only VMs with our tag are deleted. */
async function destroy(api: Api, guest: Guest, options: Options, signal: AbortSignal): Promise<void> {
  const { tags } = await configOfGuest(api, guest, signal);
  if (!hasTag(tags, options.managedTag))
    throw new PowerError(
      'refused',
      `VM ${guest.vmid} does not carry the tag ${options.managedTag}: it is not deleted`,
    );
  if ((await currentOf(api, guest, signal)).status !== 'stopped')
    throw new PowerError('refused', `VM ${guest.vmid} is running: it is not deleted`);
  const path = `/nodes/${guest.node}/qemu/${guest.vmid}?purge=1&destroy-unreferenced-disks=1`;
  await api.task('DELETE', guest.node, path, {}, signal);
  const left = await allGuests(api, signal);
  if (left.some(({ vmid }) => vmid === guest.vmid))
    throw new PowerError('busy', `VM ${guest.vmid} is still listed after it was deleted`);
}

async function releaseOrphans(
  spec: MachineSpec,
  options: Options,
  isKnown: (machine: string) => boolean,
  deps: Deps,
  signal: AbortSignal,
): Promise<{ released: string[]; running: string[] }> {
  const api = createApi(spec, options, deps);
  const released: string[] = [];
  const running: string[] = [];
  for (const guest of await allGuests(api, signal)) {
    if (guest.type !== 'qemu' || guest.template === 1 || !hasTag(guest.tags, options.managedTag)) continue;
    if (!inRange(guest, options)) continue;
    const { name = `VM ${guest.vmid}` } = await configOfGuest(api, guest, signal);
    if (isKnown(name)) continue;
    if ((await currentOf(api, guest, signal)).status === 'running') running.push(name);
    else {
      await destroy(api, guest, options, signal);
      released.push(name);
    }
  }
  return { released, running };
}

const uuidIn = (smbios: string | undefined): string | undefined =>
  /(?:^|,)uuid=([0-9a-f-]{36})/i.exec(smbios ?? '')?.[1];

export const driver: DriverDefinition<Options, (typeof uses)[number]> = {
  uses,
  options: Options,
  create,
  releaseOrphans: releaseOrphans,
};
