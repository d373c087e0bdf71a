import type { Description } from '../../ports/power.ts';
import type { Client } from './client.ts';
import { EthernetInterface, Processor } from './schema.ts';
import { readSystem } from './system.ts';

/** A BMC that lists more is not asked about each of them. */
const most = 32;

export async function describe(client: Client, path: string): Promise<Description> {
  const system = await readSystem(client, path);
  const macAddresses = new Set<string>();
  for (const member of await membersOf(client, system.EthernetInterfaces, 'network interfaces')) {
    const nic = await client.get(EthernetInterface, member, 'network interface');
    const mac = nic.PermanentMACAddress || nic.MACAddress;
    if (mac) macAddresses.add(mac.toLowerCase());
  }
  const processors = [];
  for (const member of await membersOf(client, system.Processors, 'processors'))
    processors.push(await client.get(Processor, member, 'processor'));
  const threads = processors
    .filter(({ ProcessorType }) => ProcessorType === 'CPU')
    .reduce((sum, { TotalThreads }) => sum + (TotalThreads ?? 0), 0);
  const gibibytes = system.MemorySummary?.TotalSystemMemoryGiB;
  return {
    systemUUID: system.UUID ?? undefined,
    serial: system.SerialNumber || undefined,
    manufacturer: system.Manufacturer || undefined,
    model: system.Model || undefined,
    macAddresses: [...macAddresses],
    cpus: (system.ProcessorSummary?.LogicalProcessorCount ?? threads) || undefined,
    memoryBytes: gibibytes ? Math.round(gibibytes * 2 ** 30) : undefined,
    gpus:
      processors.length > 0
        ? processors.filter(({ ProcessorType }) => ProcessorType === 'GPU').length
        : undefined,
  };
}

const membersOf = async (
  client: Client,
  link: { readonly '@odata.id': string } | null | undefined,
  what: string,
): Promise<string[]> => (link ? (await client.members(link['@odata.id'], what)).slice(0, most) : []);
