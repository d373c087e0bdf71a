import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SettingsError } from '../process/flags.ts';
import type { Log } from '../process/log.ts';
import { readTls, type TlsFiles, watchCertificates } from './tls-files.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  readonly timeouts: { readonly headersMs: number; readonly bodyMs: number; readonly keepAliveMs: number };
  readonly log: Log;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections; resolves once the last one is closed. */
  stop(): Promise<void>;
  closeAllConnections(): void;
}

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already: stop it, or choose another --port',
  EACCES: 'this user may not listen there: choose a --port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address: correct BAMEL_HOST',
};

export async function listen(options: ListenOptions, onRequest: RequestListener): Promise<Listening> {
  const { host, port, tls, timeouts } = options;
  const httpOptions = {
    headersTimeout: timeouts.headersMs,
    // Ours answers a slow body first, this one only ends what is left.
    requestTimeout: timeouts.headersMs + 2 * timeouts.bodyMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs),
  };
  const pems = tls && (await readTls(tls));
  const server: Server | TlsServer = pems
    ? createTlsServer({ ...httpOptions, ...pems, minVersion: 'TLSv1.2' })
    : createServer(httpOptions);
  const stopRefreshing =
    tls && pems ? watchCertificates(server as TlsServer, tls, pems, options.log) : (): void => undefined;
  server.on('request', onRequest);
  // A sender that asks before it sends a large body is refused before it does.
  server.on('checkContinue', onRequest);
  await bind(server, host, port).catch((error: NodeJS.ErrnoException) => {
    const why = hints[error.code ?? ''];
    throw why ? new SettingsError(`${host}:${port}: ${why} (${error.code})`) : error;
  });
  const { port: actualPort, address, family } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    port: actualPort,
    async stop() {
      stopRefreshing();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
    closeAllConnections: () => server.closeAllConnections(),
  };
}

async function bind(server: Server | TlsServer, host: string, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
}
