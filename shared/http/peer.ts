import type { Agent } from 'node:http';
import { type DriverDeps, PowerError } from '../ports/power.ts';
import type { Tls } from '../schema/tls.ts';
import { pinnedAgent } from './agent.ts';
import { type Exchange, ExchangeError, exchange, type HttpAnswer, largestBody } from './exchange.ts';
import type { Fail } from './failure.ts';
import { tlsHint } from './tls.ts';

export interface HttpPeer {
  /** The name of the peer in messages: "its BMC". */
  readonly who: string;
  /** Requests go to this scheme, host and port and to no other. */
  readonly address: URL;
  readonly tls?: Tls | undefined;
  /** Where the driver's options stand in the inventory, for messages: `redfish`. */
  readonly section: string;
  readonly resolve: DriverDeps['resolve'];
  readonly fail: Fail;
  /** See `keptOpen`; without it, every request opens a connection of its own. */
  readonly agent?: Agent;
}

export interface HttpRequest {
  readonly method: string;
  /** Absolute, or a URL on the peer's own address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

/**
 * The peer for one conversation. Its GETs share a connection while the peer keeps it open, because the handshake is
 * the slowest part for a slow BMC. The connection ends with the conversation.
 */
export function keptOpen(peer: HttpPeer, signal: AbortSignal): HttpPeer & Disposable {
  const agent = pinnedAgent({ ...peer, url: peer.address }, signal, peer.fail, { keepAlive: true });
  return { ...peer, agent, [Symbol.dispose]: () => agent.destroy() };
}

/**
 * One request, without redirects or proxies, to the address that `resolve` checked. A GET uses the connection of its
 * conversation; any other request opens its own (BMCs drop idle ones). Resolves with any status; see `accepted`.
 * Throws PowerErrors only; none carries what was sent. After the signal aborts nothing is sent and the connection is
 * cut: that is a `timeout`.
 */
export async function httpRequest(
  peer: HttpPeer,
  { path, ...request }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { address, fail, who } = peer;
  const url = URL.parse(path, address.href);
  // The peer says where its resources are: the password goes to no other host.
  if (url?.origin !== address.origin)
    throw fail('refused', `${who} points to ${url?.origin ?? 'nowhere'}, which is not its address`);
  try {
    const shared = await onSharedConnection(peer, { ...request, url, signal });
    return shared ?? (await onItsOwn(peer, { ...request, url, signal }));
  } catch (error) {
    throw asPowerError(peer, error, signal);
  }
}

type Sent = Omit<Exchange, 'agent'>;

async function onItsOwn(peer: HttpPeer, request: Sent): Promise<HttpAnswer> {
  const agent = pinnedAgent({ ...peer, url: request.url }, request.signal, peer.fail, { keepAlive: false });
  try {
    return await exchange({ ...request, agent });
  } finally {
    agent.destroy();
  }
}

/** Undefined: there is no shared connection for this request, or the peer has closed it meanwhile. */
async function onSharedConnection({ agent }: HttpPeer, request: Sent): Promise<HttpAnswer | undefined> {
  // A request with an effect is never sent on a connection that the peer may have closed.
  if (!agent || request.method !== 'GET') return undefined;
  try {
    return await exchange({ ...request, agent });
  } catch (error) {
    if (error instanceof ExchangeError && error.wasDropped && !request.signal.aborted) return undefined;
    throw error;
  }
}

function asPowerError(
  { who, address, section, fail }: HttpPeer,
  error: unknown,
  signal: AbortSignal,
): PowerError {
  if (error instanceof PowerError) return error;
  if (signal.aborted) return fail('timeout', `${who} did not answer in time`);
  const code = error instanceof ExchangeError ? error.code : 'unknown error';
  if (code === 'too-large') return fail('refused', `${who} answers more than ${largestBody} bytes`);
  if (code.startsWith('HPE_'))
    return fail('refused', `${who} at ${address.host} does not speak HTTP (${code})`);
  const hint = tlsHint(code, section);
  return fail('unreachable', `${who} at ${address.origin} cannot be reached (${code})${hint}`);
}
