import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { readAnswers, type WireAnswer } from './http-answers.ts';

export type WireTls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;

export interface WireRequest {
  /** It changes nothing: it may be sent behind others, and again. */
  readonly isRead: boolean;
  /** Somebody waits for the answer before anything else is done: as long as nothing is sent, it goes first. */
  readonly isUrgent?: boolean | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** One connection. Answers come in the order of the requests. */
interface Wire {
  /** How many answers are waited for. */
  readonly waiting: number;
  /** Whether what is waited for only reads: then more may be asked for behind it. */
  readonly onlyReads: boolean;
  /** It is there, or was: what failed before that was never sent. */
  readonly wasConnected: boolean;
  readonly isClosed: boolean;
  /** Whatever ends the connection, or the signal, ends all that are waited for. */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
  close(): void;
}

function openWire(base: URL, tls: WireTls = {}): Wire {
  const isSecure = base.protocol === 'https:';
  const socket = connectTo(base, isSecure, tls);
  const waiting: { readonly isRead: boolean; readonly answered: PromiseWithResolvers<WireAnswer> }[] = [];
  let unsent = '';
  let wasConnected = false;
  let isClosed = false;

  const end = (error: Error): void => {
    isClosed = true;
    socket.destroy();
    for (const { answered } of waiting.splice(0)) answered.reject(error);
  };
  const reader = readAnswers((answer) => {
    const first = waiting.shift();
    if (!first) throw new Error('an answer came that nobody asked for');
    first.answered.resolve(answer);
    if (answer.headers.connection?.toLowerCase() === 'close')
      end(new Error('the server closed the connection'));
  });
  reader.next();
  // Not before: whoever is at the other end has then shown a certificate that holds.
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    wasConnected = true;
    if (unsent) socket.write(unsent);
    unsent = '';
  });
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.next(chunk);
    } catch (error) {
      end(error as Error);
    }
  });
  socket.on('error', end);
  socket.on('close', () => end(new Error('the connection was closed before the answer')));

  return {
    get waiting() {
      return waiting.length;
    },
    get onlyReads() {
      return waiting.every(({ isRead }) => isRead);
    },
    get wasConnected() {
      return wasConnected;
    },
    get isClosed() {
      return isClosed;
    },
    async send(request, signal) {
      signal.throwIfAborted();
      const text = textOf(base, request);
      const answered = Promise.withResolvers<WireAnswer>();
      const one = { isRead: request.isRead, answered };
      if (request.isUrgent && !wasConnected) {
        waiting.unshift(one);
        unsent = text + unsent;
      } else {
        waiting.push(one);
        if (wasConnected) socket.write(text);
        else unsent += text;
      }
      const abort = (): void => end(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      return answered.promise.finally(() => signal.removeEventListener('abort', abort));
    },
    close: () => end(new Error('the connection was closed')),
  };
}

function connectTo({ hostname, port }: URL, isSecure: boolean, tls: WireTls): Socket {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const where = { host, port: port ? Number(port) : isSecure ? 443 : 80 };
  const socket = isSecure
    ? connectTls({
        ...where,
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 && { servername: host }),
        ...tls,
      })
    : connect(where);
  return socket.setNoDelay(true).setKeepAlive(true, 1_000);
}

function textOf({ host }: URL, { method, path, headers, body }: WireRequest): string {
  const all = {
    host,
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
  ];
  // Whoever could write a line of their own could write a request of their own.
  if (lines.some((line) => line.includes('\r') || line.includes('\n')))
    throw new Error('a header or a path has a line break in it');
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Behind so many questions a new one waits too long. */
const mostBehind = 16;

interface Wires {
  /** The connection for a request: one that nobody uses, one that others only read from, or a new one. */
  take(isRead: boolean): Wire;
  close(): void;
}

/**
 * As much of an HTTP client as it takes to ask one server for JSON, for a process that was started to answer one event:
 * to load and compile the one of Node.js takes longer than all the answers. Questions that only read go one behind the
 * other on one connection, because a connection costs more than an answer; whatever else has one for itself.
 */
export function createWires(base: URL, tls: WireTls = {}): Wires {
  let wires: Wire[] = [];
  return {
    take(isRead) {
      wires = wires.filter(({ isClosed }) => !isClosed);
      const shared = (wire: Wire): boolean => isRead && wire.onlyReads && wire.waiting < mostBehind;
      const found = wires.find(({ waiting }) => waiting === 0) ?? wires.find(shared);
      if (found) return found;
      const opened = openWire(base, tls);
      wires.push(opened);
      return opened;
    },
    close() {
      for (const wire of wires) wire.close();
    },
  };
}
