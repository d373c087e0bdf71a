import { createHash } from 'node:crypto';
import { bamelKeys } from '../../core/cluster/names.ts';
import type { MachineSpec } from '../../core/machine/machine.ts';
import type { Options } from './options.ts';

const MiB = 2 ** 20;

/** The same bytes for the same text, so that a repeated creation asks for the same VM. */
const bytesOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** In the description of our VMs: identifies the machine before the tag is set. */
export const markerOf = (machine: string): string => `${bamelKeys.machine}=${machine}`;

/** What the VM of a machine is to be, in Proxmox's own words. */
export function configOf(spec: MachineSpec, options: Options): Record<string, string> {
  const { cpu = 0, memory = 0 } = spec.resources;
  return {
    ...Object.fromEntries(
      Object.entries(options.vmOptions).map(([name, value]) => [
        name,
        typeof value === 'boolean' ? String(Number(value)) : String(value),
      ]),
    ),
    ...Object.fromEntries(
      options.networkInterfaces.map((card, index) => [card.name, networkCard(spec.name, card, index)]),
    ),
    cores: String(Math.max(1, Math.ceil(cpu / 1000))),
    memory: String(Math.ceil((memory + (spec.memoryOverhead ?? 0)) / MiB)),
    tags: options.managedTag,
  };
}

function networkCard(machine: string, card: Options['networkInterfaces'][number], index: number): string {
  const { model, bridge, vlanTag, macPrefix } = card;
  const tail = bytesOf(`${machine}/${index}`).subarray(0, 3).toString('hex').match(/../g) ?? [];
  const parts = [`${model}=${[macPrefix, ...tail].join(':').toUpperCase()}`];
  if (bridge) parts.push(`bridge=${bridge}`);
  if (vlanTag) parts.push(`tag=${vlanTag}`);
  return parts.join(',');
}

/** A free id of the range; stable for a machine while it is free. */
export function freeId(
  machine: string,
  { vmIDRange }: Options,
  taken: ReadonlySet<number>,
): number | undefined {
  if (!vmIDRange) return undefined;
  const span = vmIDRange.upper - vmIDRange.lower + 1;
  const start = bytesOf(machine).readUInt32BE(0) % span;
  for (let step = 0; step < span; step += 1) {
    const id = vmIDRange.lower + ((start + step) % span);
    if (!taken.has(id)) return id;
  }
  return undefined;
}

/** Requirements on the hypervisor for the machine. */
export const bytesNeeded = ({ resources, memoryOverhead }: MachineSpec): number =>
  (resources.memory ?? 0) + (memoryOverhead ?? 0);
