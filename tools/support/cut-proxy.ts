import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP proxy on 127.0.0.1 that a test breaks and mends. */
export type CutProxy = {
  readonly port: number;
  /** How many connections it has accepted so far. */
  accepted(): number;
  /** Ends all connections and resets new ones at once, until `heal`. */
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
  let accepted = 0;
  let delayMs = 0;
  let frozen: PromiseWithResolvers<void> | undefined;

  async function forward(from: Socket, to: Socket, signal: AbortSignal): Promise<void> {
    // Left open at its end: the other direction may still be in use.
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      if (delayMs > 0) await sleep(delayMs, undefined, { signal });
      // After the delay: a freeze that comes during it holds this chunk too.
      await frozen?.promise;
      if (!to.write(chunk)) await once(to, 'drain', { signal });
    }
    await frozen?.promise;
    to.end();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const ended = new AbortController();
    const end = () => {
      ended.abort();
      for (const socket of [client, target]) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // An error on one side is passed on as what it is to the other: the end of the connection.
      socket.on('error', end);
      socket.on('close', end);
    }
    forward(client, target, ended.signal).catch(end);
    forward(target, client, ended.signal).catch(end);
  });

  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;

  const dropAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const thaw = () => {
    frozen?.resolve();
    frozen = undefined;
  };
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    cut() {
      refusing = true;
      dropAll();
    },
    freeze() {
      frozen ??= Promise.withResolvers();
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
      const closed = once(server, 'close');
      server.close();
      thaw();
      dropAll();
      await closed;
    },
  };
}
