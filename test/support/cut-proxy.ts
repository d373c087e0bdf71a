import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP proxy on 127.0.0.1 that a test breaks and mends. */
export type CutProxy = {
  readonly port: number;
  /** Ends all connections and refuses new ones, until `heal`. */
  cut(): void;
  /** Keeps connections open, and accepts new ones, but carries nothing either way, until `thaw` or `heal`. */
  freeze(): void;
  /** What was held back is carried on, in order. */
  thaw(): void;
  /** Every chunk, either way, waits this long; 0 for not at all. */
  delay(ms: number): void;
  /** Back to a proxy that does nothing. */
  heal(): void;
  close(): Promise<void>;
};

export async function startProxy(targetPort: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let refusing = false;
  let delayMs = 0;
  let thawed = Promise.withResolvers<void>();
  thawed.resolve();
  const closing = new AbortController();

  async function forward(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      // Read anew after each wait: a freeze that comes during a delay holds this chunk too.
      if (delayMs > 0) await sleep(delayMs, undefined, { signal: closing.signal });
      await thawed.promise;
      if (!to.write(chunk)) await once(to, 'drain', { signal: closing.signal });
    }
    await thawed.promise;
    to.end();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const pair = [client, target];
    for (const socket of pair) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // Either side going away ends the pair; there is nobody else to tell about its error.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of pair) other.destroy();
      });
    }
    if (refusing) return client.destroy();
    const broken = () => client.destroy();
    forward(client, target).catch(broken);
    forward(target, client).catch(broken);
  });

  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  const { port } = server.address() as AddressInfo;

  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const thaw = () => thawed.resolve();
  return {
    port,
    cut() {
      refusing = true;
      dropAll();
    },
    freeze() {
      thawed.resolve();
      thawed = Promise.withResolvers<void>();
    },
    thaw,
    delay(ms) {
      delayMs = ms;
    },
    heal() {
      refusing = false;
      delayMs = 0;
      thaw();
    },
    async close() {
      closing.abort();
      thaw();
      const closed = once(server, 'close');
      server.close();
      dropAll();
      await closed;
    },
  };
}
