// Stands beside a built function as snapshot.cjs. Node.js runs it to make a snapshot of the process that main.cjs is:
// all is loaded, and events are handled on a stage, so that what it takes to handle one is compiled in there. HTTP,
// TLS, SQLite and the loader of files cannot be part of a snapshot.
const crypto = require('node:crypto');
const { EventEmitter } = require('node:events');
const { createConnection, createServer } = require('node:net');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Readable } = require('node:stream');
const { queryObjects, setFlagsFromString, startupSnapshot } = require('node:v8');
const { compileFunction } = require('node:vm');

function load(name) {
  const filename = join(__dirname, name);
  const module = { exports: {} };
  const run = compileFunction(readFileSync(filename, 'utf8'), ['require', 'module', 'exports'], { filename });
  run(require, module, module.exports);
  return module.exports;
}

// As in index.mjs.
globalThis.__zod_globalConfig = { jitless: true };
const { answerTo, event } = load('stage.cjs');

/** What can be part of it, and is used before the first answer. */
const builtins = [
  'cluster',
  'dns',
  'fs/promises',
  'net',
  'os',
  'perf_hooks',
  'timers/promises',
  'url',
  'util',
];
for (const name of builtins) require(`node:${name}`);

/** A request that came in, or an answer that came back; without a text it does not end. */
class Message extends Readable {
  constructor(head, text) {
    super({ read() {} });
    Object.assign(this, head);
    this.on('error', () => undefined);
    if (text === undefined) return;
    this.push(text);
    this.push(null);
  }
}

const servers = [];

/** As much of node:http as a function uses. */
const http = {
  Agent: class {
    destroy() {}
  },
  createServer() {
    const server = new EventEmitter();
    servers.push(server);
    return Object.assign(server, {
      listen(bound) {
        bound.close();
        process.nextTick(() => server.emit('listening'));
      },
      address: () => ({ address: '127.0.0.1', family: 'IPv4', port: 1 }),
      close: () => process.nextTick(() => server.emit('close')),
      closeAllConnections() {},
    });
  },
  request(...given) {
    const sending = new EventEmitter();
    if (typeof given.at(-1) === 'function') sending.once('response', given.pop());
    const { path } = Object.assign(
      {},
      ...given.map((one) => (one instanceof URL ? { path: one.pathname + one.search } : one)),
    );
    let response;
    return Object.assign(sending, {
      setHeader() {},
      end(body) {
        response = new Message({ statusCode: 200, headers: {} }, answerTo(path, body));
        response.on('close', () => sending.emit('close'));
        process.nextTick(() => sending.emit('response', response));
      },
      destroy: () => response?.destroy(),
    });
  },
};

/** The status of the answer. */
function send(id) {
  const { promise, resolve } = Promise.withResolvers();
  const headers = { ...event.headers, host: '127.0.0.1', 'ce-id': id };
  const head = {
    method: event.method,
    url: '/',
    headers,
    socket: { remoteAddress: '127.0.0.1' },
    complete: true,
  };
  servers[0].emit('request', new Message(head, event.body), { writeHead: resolve, end() {}, destroy() {} });
  return promise;
}

const { getBuiltinModule, exit, on } = process;
const { setTimeout: realTimeout } = globalThis;
const { any, timeout } = AbortSignal;
const { randomFillSync, randomInt, randomUUID } = crypto;

/** Nothing is waited for, and nothing is left that has yet to happen. */
function setStageTimeout(work, ms) {
  const timer = realTimeout(work, Math.min(ms, 50));
  const unref = () => {
    clearTimeout(timer);
    return timer;
  };
  return Object.assign(timer, { unref });
}

/** Without the references that Node.js would clean up some time later: there is no later before the snapshot. */
function anyOf(signals) {
  const controller = new AbortController();
  for (const signal of signals) signal.addEventListener('abort', () => controller.abort(signal.reason));
  return controller.signal;
}

/** Node.js draws more than it is asked for, to have some for later: every process would go on with the same. */
function drawNothing() {
  throw new Error('use randomBytes: what is drawn in advance would become part of the snapshot');
}

/**
 * Forgets what was compiled to load everything, and is not needed again: a snapshot is read as a whole, used or not.
 * Asking for all objects of a class collects garbage.
 */
function forgetCompiled() {
  setFlagsFromString('--stress-flush-code');
  for (let round = 0; round < 3; round += 1) queryObjects(class {}, { format: 'count' });
  setFlagsFromString('--no-stress-flush-code');
}

/** A real connection, both ends of it: what node:http will use. */
async function connect() {
  const server = createServer((socket) => socket.on('data', (chunk) => socket.end(chunk)));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = createConnection({ host: '127.0.0.1', port: server.address().port });
  socket.setNoDelay(true).setKeepAlive(true, 1_000).setTimeout(1_000);
  socket.write('to and ');
  socket.write('fro');
  for await (const _ of socket);
  await new Promise((resolve) => server.close(resolve));
}

async function rehearse(main) {
  const { promise: ended, resolve: end } = Promise.withResolvers();
  let stop;
  // None of them may be loaded yet, and of TLS nothing is used on the stage.
  process.getBuiltinModule = (name) => (/^(node:)?(https?|tls)$/.test(name) ? http : getBuiltinModule(name));
  process.exit = end;
  process.on = (_, listener) => {
    stop = listener;
  };
  globalThis.setTimeout = setStageTimeout;
  Object.assign(crypto, { randomFillSync: drawNothing, randomInt: drawNothing, randomUUID: drawNothing });
  AbortSignal.any = anyOf;
  AbortSignal.timeout = () => new AbortController().signal;
  forgetCompiled();
  await main();
  // Twice: some things are made when they are needed for the first time.
  for (const id of ['first', 'second']) {
    const status = await send(id);
    if (status !== 204) throw new Error(`the event was answered with ${status}`);
  }
  stop('SIGTERM');
  const code = await ended;
  servers.length = 0;
  if (code !== 0) throw new Error(`it stopped with ${code}`);
  await connect();
  // Node.js remembers when the next timer is due until one has fired with none after it. What it remembered here would
  // be part of the snapshot, and there no timer would be set for anything later than that.
  await new Promise((resolve) => realTimeout(resolve, 1_000));
  Object.assign(process, { getBuiltinModule, exit, on });
  globalThis.setTimeout = realTimeout;
  Object.assign(AbortSignal, { any, timeout });
  Object.assign(crypto, { randomFillSync, randomInt, randomUUID });
}

const { setDeserializeMainFunction } = startupSnapshot;
let isRehearsed = false;
startupSnapshot.setDeserializeMainFunction = (main) => {
  setDeserializeMainFunction(main);
  rehearse(main).then(
    () => {
      isRehearsed = true;
    },
    (error) => {
      process.stderr.write(`${error.stack}\n`);
      exit(1);
    },
  );
};
// Reached also when there is nothing left to wait for.
startupSnapshot.addSerializeCallback(() => {
  if (isRehearsed) return;
  process.stderr.write('the function did not get to its end on the stage: something is waited for in vain\n');
  exit(1);
});
load('main.cjs');
