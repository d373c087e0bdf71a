import { z } from 'zod';
import type { MachineSpec } from '../../core/machine/machine.ts';
import { PowerError } from '../../ports/power.ts';
import type { Api } from './api.ts';
import { markerOf } from './make.ts';
import type { Options } from './options.ts';

const Guest = z.object({
  vmid: z.number(),
  node: z.string(),
  type: z.string(),
  name: z.string().optional(),
  tags: z.string().optional(),
  lock: z.string().optional(),
  template: z.number().optional(),
});
export type Guest = z.infer<typeof Guest>;

const Host = z.object({
  node: z.string(),
  status: z.string(),
  mem: z.number().optional(),
  maxmem: z.number().optional(),
});

const Config = z.object({
  name: z.string().optional(),
  tags: z.string().optional(),
  description: z.string().optional(),
  smbios1: z.string().optional(),
  lock: z.string().optional(),
});
export type Config = z.infer<typeof Config>;

const Current = z.object({
  status: z.enum(['running', 'stopped']),
  qmpstatus: z.string().optional(),
  lock: z.string().optional(),
});

/** Where it is now: VMs migrate, so this is asked every time. */
export const allGuests = (api: Api, signal: AbortSignal): Promise<Guest[]> =>
  api.get(z.array(Guest), '/cluster/resources?type=vm', signal);

export const configOfGuest = (api: Api, { node, vmid }: Guest, signal: AbortSignal): Promise<Config> =>
  api.get(Config, `/nodes/${node}/qemu/${vmid}/config`, signal);

export const currentOf = (api: Api, { node, vmid }: Guest, signal: AbortSignal) =>
  api.get(Current, `/nodes/${node}/qemu/${vmid}/status/current`, signal);

export const hasTag = (tags: string | undefined, tag: string): boolean =>
  (tags ?? '').split(/[;, ]/).includes(tag);

export const inRange = ({ vmid }: Guest, { vmIDRange }: Options): boolean =>
  vmIDRange !== undefined && vmid >= vmIDRange.lower && vmid <= vmIDRange.upper;

/**
 * The VM made for a machine. The list of resources is some seconds behind for names and tags: what has none
 * yet is asked itself, or a creation repeated after a crash would make a second VM.
 */
export async function findMade(
  api: Api,
  spec: MachineSpec,
  options: Options,
  guests: readonly Guest[],
  signal: AbortSignal,
): Promise<Guest | undefined> {
  for (const guest of guests) {
    if (guest.type !== 'qemu' || guest.template === 1 || !inRange(guest, options)) continue;
    if (guest.name !== undefined && guest.name !== spec.name) continue;
    if (await isOurs(api, guest, spec.name, options, signal)) return guest;
  }
  return undefined;
}

/** Made by us for this machine, whatever it is called by now. */
async function isOurs(
  api: Api,
  guest: Guest,
  machine: string,
  { managedTag }: Options,
  signal: AbortSignal,
): Promise<boolean> {
  const config = await configOfGuest(api, guest, signal);
  return (
    config.name === machine &&
    (hasTag(config.tags, managedTag) || (config.description ?? '').split('\n').includes(markerOf(machine)))
  );
}

export async function findExisting(
  spec: MachineSpec,
  vmid: number,
  guests: readonly Guest[],
): Promise<Guest> {
  const guest = guests.find((candidate) => candidate.vmid === vmid);
  if (guest?.type === 'qemu') return guest;
  throw new PowerError(
    'config',
    `${spec.name}: Proxmox has no VM ${vmid} that its token may see. Correct proxmox.vmid or the token's permissions`,
  );
}

/** The hypervisor with the most free memory of those that may be used. */
export async function roomiestHost(
  api: Api,
  spec: MachineSpec,
  { nodes }: Options,
  bytes: number,
  signal: AbortSignal,
): Promise<string> {
  const hosts = await api.get(z.array(Host), '/cluster/resources?type=node', signal);
  const allowed = hosts.filter(({ node, status }) => status === 'online' && (nodes?.includes(node) ?? true));
  const free = ({ mem = 0, maxmem = 0 }: z.infer<typeof Host>): number => maxmem - mem;
  const [best] = allowed
    .filter((host) => free(host) >= bytes)
    .sort((a, b) => free(b) - free(a) || (a.node < b.node ? -1 : 1));
  if (best) return best.node;
  throw new PowerError(
    'refused',
    `${spec.name}: none of ${allowed.length} hypervisors has ${Math.ceil(bytes / 2 ** 20)} MiB of memory free`,
  );
}
