import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Route } from './networks.ts';

/** One packet, from a socket of its own. */
export async function sendPacket(packet: Buffer, { from, to }: Route, port: number): Promise<void> {
  const socket = createSocket('udp4');
  try {
    socket.bind(0, from);
    await once(socket, 'listening');
    socket.setBroadcast(true);
    const send: (data: Buffer, port: number, address: string) => Promise<unknown> = promisify(
      socket.send.bind(socket),
    );
    await send(packet, port, to);
  } finally {
    socket.close();
  }
}
