import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as sendRequest,
} from 'node:http';
import type { HttpAnswer, HttpPeer, HttpRequest } from './http.ts';
import { type Destination, openSocket } from './open-socket.ts';

const largestBody = 1_000_000;

/**
 * The peer for one conversation: its GETs share a connection while the peer keeps that open, because a handshake is
 * what a slow BMC takes longest for. Ends with the conversation.
 */
export function keptOpen(peer: HttpPeer, signal: AbortSignal): HttpPeer & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = (_options, done) => {
    openSocket({ ...peer, url: peer.address }, signal, peer.fail).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  return { ...peer, agent, [Symbol.dispose]: () => agent.destroy() };
}

type To = HttpPeer & Destination;

export async function onItsOwn(to: To, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const socket = await openSocket(to, signal, to.fail);
  try {
    const { sent, answered } = begin(to, request, signal, { createConnection: () => socket });
    sent.setHeader('connection', 'close');
    sent.end(request.body);
    return await answerOf(to, await answered);
  } finally {
    socket.destroy();
  }
}

/** Undefined: the peer has dropped the connection meanwhile, as it may. */
export async function onSharedConnection(
  to: To,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer | undefined> {
  if (!to.agent) return undefined;
  const { sent, answered } = begin(to, request, signal, { agent: to.agent });
  sent.end(request.body);
  let response: IncomingMessage;
  try {
    response = await answered;
  } catch (error) {
    if (sent.reusedSocket && !signal.aborted) return undefined;
    throw error;
  }
  return answerOf(to, response);
}

function begin(
  { url }: To,
  { method, headers, body }: HttpRequest,
  signal: AbortSignal,
  way: Pick<RequestOptions, 'agent' | 'createConnection'>,
): { readonly sent: ClientRequest; readonly answered: Promise<IncomingMessage> } {
  const { host, pathname, search } = url;
  const sent = sendRequest({
    ...way,
    method,
    path: `${pathname}${search}`,
    setHost: false,
    headers: { host, 'content-length': Buffer.byteLength(body ?? ''), ...headers },
    signal,
  });
  // Heard of where the answer or its body is awaited.
  sent.on('error', () => undefined);
  return {
    sent,
    answered: once(sent, 'response').then(([response]) => response as IncomingMessage),
  };
}

async function answerOf({ who, fail }: To, response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw fail('refused', `${who} answers more than ${largestBody} bytes`);
    chunks.push(chunk);
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString('utf8'),
  };
}
