import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

export interface Retransmit {
  readonly afterMs: number;
  readonly tries: number;
}

export interface Transport {
  /**
   * Sends until a packet comes that `accept` takes. Undefined: none came for as many tries, or the signal
   * aborted, after which nothing is sent. Throws what `accept` throws, and the error of the socket.
   */
  exchange<Value>(
    packet: () => Buffer,
    accept: (packet: Buffer) => Value | undefined,
    retransmit: Retransmit,
    signal?: AbortSignal,
  ): Promise<Value | undefined>;
  /** Sends once, and waits for no answer. */
  send(packet: Buffer): Promise<void>;
  [Symbol.dispose](): void;
}

/** Connected, so that foreign packets are dropped and a closed port is reported at once. */
export async function openTransport(address: string, port: number): Promise<Transport> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  // Without a listener an error between two exchanges would end the process; the next one shows it again.
  socket.on('error', () => undefined);
  socket.connect(port, address);
  await once(socket, 'connect');
  return {
    async exchange(packet, accept, { afterMs, tries }, signal) {
      if (signal?.aborted) return undefined;
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof accept>>();
      let sent = 0;
      let timer: NodeJS.Timeout | undefined;
      const send = () => {
        if (sent++ === tries) return resolve(undefined);
        socket.send(packet(), (error) => error && reject(error));
        timer = setTimeout(send, afterMs);
      };
      const receive = (received: Buffer) => {
        try {
          const value = accept(received);
          if (value !== undefined) resolve(value);
        } catch (error) {
          reject(error);
        }
      };
      const stop = () => resolve(undefined);
      socket.on('message', receive).on('error', reject);
      signal?.addEventListener('abort', stop);
      try {
        send();
        return await promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        socket.off('message', receive).off('error', reject);
      }
    },
    send: (packet) =>
      new Promise((resolve, reject) => socket.send(packet, (error) => (error ? reject(error) : resolve()))),
    [Symbol.dispose]: () => socket.close(),
  };
}
