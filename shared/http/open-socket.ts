import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type DriverDeps, PowerError } from '../ports/power.ts';
import type { Tls } from '../schema/tls.ts';
import { hostOf } from './address.ts';
import type { Fail } from './failure.ts';
import { checkFingerprint, tlsOptions } from './tls.ts';

export interface Destination {
  readonly url: URL;
  readonly tls?: Tls | undefined;
  /** Where its options stand in the inventory: `redfish`. */
  readonly section: string;
  readonly resolve: DriverDeps['resolve'];
}

/**
 * Connects to exactly the address that `resolve` checked. With TLS, the certificate is checked before this returns:
 * no byte of the request has been sent.
 */
export async function openSocket(to: Destination, signal: AbortSignal, fail: Fail): Promise<Socket> {
  const { url, tls, section } = to;
  const secure = url.protocol === 'https:';
  const name = hostOf(url);
  const options = secure ? await tlsOptions(tls, section, fail) : undefined;
  const host = await addressOf(to, name, signal, fail);
  signal.throwIfAborted();
  const port = Number(url.port) || (secure ? 443 : 80);
  if (!options) return opened(connectTcp({ host, port }), 'connect', signal);
  const socket = connectTls({ ...options, host, port, servername: isIP(name) ? '' : name });
  await opened(socket, 'secureConnect', signal);
  try {
    checkFingerprint(socket, tls, section, fail);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return socket;
}

async function addressOf(
  { resolve }: Destination,
  name: string,
  signal: AbortSignal,
  fail: Fail,
): Promise<string> {
  try {
    return await unlessAborted(resolve(name), signal);
  } catch (error) {
    throw error instanceof PowerError ? fail(error.code, error.message) : error;
  }
}

async function opened<Kind extends Socket>(socket: Kind, event: string, signal: AbortSignal): Promise<Kind> {
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The lookup itself cannot be aborted: the caller stops waiting for it. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
