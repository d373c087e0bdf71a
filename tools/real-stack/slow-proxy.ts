import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An HTTP proxy that holds every request back for a while, and counts how many it holds at once. */
export async function startSlowProxy(targetPort: number, holdMs: () => number) {
  let holding = 0;
  const seen = { most: 0, total: 0 };
  const server = createServer(async (incoming, outgoing) => {
    const isEvent = incoming.method === 'POST';
    if (isEvent) {
      holding += 1;
      seen.total += 1;
      seen.most = Math.max(seen.most, holding);
      outgoing.on('close', () => {
        holding -= 1;
      });
      await sleep(holdMs());
    }
    const { method, url, headers } = incoming;
    const asking = request(
      { host: '127.0.0.1', port: targetPort, method, path: url, headers },
      (answered) => {
        outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(outgoing);
      },
    );
    asking.on('error', () => outgoing.destroy());
    incoming.pipe(asking);
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    holding: () => holding,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
