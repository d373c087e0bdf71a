import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { NodeEvidence } from '../../../shared/ports/power.ts';

/** Nobody else in 127.0.0.0/8 listens on its broadcast address. */
export const loopbackBroadcast = '127.255.255.255';

export interface SleepingHost {
  readonly port: number;
  readonly packets: readonly Buffer[];
  /** On, off, or something that its node leaves open. */
  power: 'on' | 'off' | 'unknown';
  /** What Kubernetes would say of it. */
  node(): NodeEvidence | undefined;
  close(): Promise<void>;
}

/** A host whose network card listens while it is off, and whose node shows what it is. */
export async function startSleepingHost(
  macAddress: string,
  secureOn = Buffer.alloc(0),
): Promise<SleepingHost> {
  const mac = Buffer.from(macAddress.replaceAll(':', ''), 'hex');
  const packets: Buffer[] = [];
  const socket = createSocket('udp4');
  const host: SleepingHost = {
    get port() {
      return socket.address().port;
    },
    packets,
    power: 'off',
    node() {
      if (host.power === 'off') return undefined;
      const ready = host.power === 'on';
      return { node: 'mini-1', ready, bootID: 'boot-1', heartbeatAgeMs: 5_000, addresses: [] };
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (packet) => {
    packets.push(packet);
    // As a network card reads it: anywhere in the frame, and only its own address wakes it.
    const wanted = Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => mac), secureOn]);
    if (packet.includes(wanted)) host.power = 'on';
  });
  socket.bind(0, loopbackBroadcast);
  await once(socket, 'listening');
  return host;
}
