import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decodeAnswer, encodeRequest, type Request } from '../../shared/drivers/ipmi/message.ts';
import { unwrapSessionless, wrapSessionless } from '../../shared/drivers/ipmi/packet.ts';
import { openTransport } from '../../shared/drivers/ipmi/transport.ts';

/** A UDP port of 127.0.0.1 that was free a moment ago. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

/** Undefined until a BMC on that port of 127.0.0.1 tells what it supports. */
export async function answersIpmi(port: number): Promise<true | undefined> {
  const request: Request = { netFn: 0x06, command: 0x38, data: [0x8e, 4] };
  using line = await openTransport('127.0.0.1', port);
  return await line.exchange(
    () => wrapSessionless(encodeRequest(request, 0)),
    (packet) => {
      const message = unwrapSessionless(packet);
      return message && decodeAnswer(message, request, 0) ? true : undefined;
    },
    { afterMs: 200, tries: 1 },
  );
}
