import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CutProxy, startProxy } from '../../tools/support/cut-proxy.ts';

let echo: Server;
let proxy: CutProxy;
let client: Socket;

/** A client whose received text is kept. */
async function open(): Promise<Socket & { received?: string }> {
  const socket: Socket & { received?: string } = connect(proxy.port, '127.0.0.1');
  socket.setEncoding('utf8');
  socket.received = '';
  socket.on('data', (text) => {
    socket.received += String(text);
  });
  await once(socket, 'connect');
  return socket;
}

async function says(socket: Socket & { received?: string }, text: string): Promise<void> {
  for (let tries = 0; socket.received !== text && tries < 200; tries++) await sleep(10);
  expect(socket.received).toBe(text);
}

/** Also for one that ends with an error, which `once` would throw. */
function closed(socket: Socket): Promise<unknown> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.on('close', resolve));
}

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startProxy((echo.address() as AddressInfo).port);
  client = await open();
});

afterEach(async () => {
  client.destroy();
  await proxy.close();
  echo.close();
  await once(echo, 'close');
});

test('carries bytes both ways and passes on the end', async () => {
  const ended = closed(client);
  client.end('hello');
  await says(client, 'hello');
  await ended;
  expect(client.errored).toBeNull();
});

test('cut ends connections and resets new ones until healed', async () => {
  const ended = closed(client);
  proxy.cut();
  await ended;
  const refused = connect(proxy.port, '127.0.0.1');
  await closed(refused);
  expect(refused.bytesRead).toBe(0);

  proxy.heal();
  client = await open();
  client.write('back');
  await says(client, 'back');
});

test('freeze holds bytes back on open connections, thaw delivers them in order', async () => {
  proxy.freeze();
  proxy.freeze();
  client.write('one ');
  // A second connection that was asked later would have been answered by now if anything were carried.
  const other = await open();
  other.write('x');
  await sleep(50);
  expect([(client as { received?: string }).received, other.received]).toEqual(['', '']);
  client.write('two');
  proxy.thaw();
  await says(client, 'one two');
  other.destroy();
});

test('delay lets everything through, later', async () => {
  proxy.delay(40);
  const asked = performance.now();
  client.write('slow');
  await says(client, 'slow');
  expect(performance.now() - asked).toBeGreaterThanOrEqual(78);
});

test('a target that is gone ends the client, not the proxy', async () => {
  const gone = await startProxy(1);
  const socket = connect(gone.port, '127.0.0.1');
  await closed(socket);
  expect(socket.bytesRead).toBe(0);
  await gone.close();
});
