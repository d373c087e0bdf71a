import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { Fail } from './failure.ts';
import { type Destination, openSocket } from './open-socket.ts';

/**
 * Connects only to the address that the destination resolves to, after the certificate was checked. Every
 * connection opens and ends within the signal's time; `keepAlive` uses one connection for all requests.
 */
export function pinnedAgent(
  to: Destination,
  signal: AbortSignal,
  fail: Fail,
  { keepAlive }: { readonly keepAlive: boolean },
): HttpAgent {
  const options = keepAlive ? { keepAlive, maxSockets: 1 } : {};
  const agent = to.url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  agent.createConnection = (_options, done) => {
    openSocket(to, signal, fail).then(
      (socket) => done?.(null, socket),
      (error: Error) => done?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

/** For an address that the settings of the process contain: no network guard. `caCerts` are trusted besides the usual ones. */
export function settingsAgent(url: URL, caCerts?: string): HttpAgent {
  if (url.protocol !== 'https:') return new HttpAgent({ keepAlive: true });
  return new HttpsAgent({ keepAlive: true, ...(caCerts && { ca: [...rootCertificates, caCerts] }) });
}
