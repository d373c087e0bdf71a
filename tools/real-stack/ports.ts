import { createServer } from 'node:net';

// Below the range that systems give to outgoing connections, which could otherwise take a port between its
// being picked and its being used.
const lowest = 20_000;
const span = 10_000;
const given = new Set<number>();

/** A port that is free on 127.0.0.1 and was not given out before in this process. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = lowest + Math.floor(Math.random() * span);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port on 127.0.0.1 between ${lowest} and ${lowest + span}`);
}

export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return promise;
}
