import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** A place to send a magic packet from and to. */
export interface Route {
  readonly from?: string | undefined;
  readonly to: string;
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/**
 * Where magic packets go: to the broadcast address that was given, or else to that of the interface that was named,
 * or else to those of all our networks. Empty: there is no such interface, or no network.
 */
export function routesFor(
  wanted: { readonly broadcast?: string | undefined; readonly interface?: string | undefined },
  all: Interfaces = networkInterfaces(),
): readonly Route[] {
  if (wanted.broadcast && !wanted.interface) return [{ to: wanted.broadcast }];
  const named = wanted.interface ? (all[wanted.interface] ?? []) : Object.values(all).flat();
  return named
    .filter((info) => info?.family === 'IPv4')
    .filter((info) => info !== undefined)
    .filter(({ internal }) => wanted.interface !== undefined || !internal)
    .map(({ address, netmask }) => ({
      from: address,
      to: wanted.broadcast ?? broadcastOf(address, netmask),
    }));
}

function broadcastOf(address: string, netmask: string): string {
  const mask = netmask.split('.').map(Number);
  return address
    .split('.')
    .map((part, index) => Number(part) | (~(mask[index] ?? 255) & 255))
    .join('.');
}
