import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A port of 127.0.0.1, or the path of a Unix socket. */
type Place = number | string;

const at = (place: Place) =>
  typeof place === 'number' ? { port: place, host: '127.0.0.1' } : { path: place };

/** Whoever connects to one place talks to the other. */
export async function carry(listen: Place, to: Place): Promise<{ server: Server; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const target = connect({ ...at(to), allowHalfOpen: true });
    for (const socket of [client, target]) {
      sockets.add(socket);
      // What ends one side badly ends the other.
      socket.on('error', () => {
        client.destroy();
        target.destroy();
      });
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(target);
    target.pipe(client);
  });
  const listening = once(server, 'listening');
  server.listen(at(listen));
  await listening;
  return {
    server,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
