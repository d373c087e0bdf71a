import { readFile } from 'node:fs/promises';
import type { SecureContextOptions, Server } from 'node:tls';
import { SettingsError } from '../process/flags.ts';
import type { Log } from '../process/log.ts';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Only callers with a certificate of this CA are answered. */
  readonly ca?: string | undefined;
  readonly refreshMs?: number | undefined;
}

type Pems = Pick<SecureContextOptions, 'cert' | 'key' | 'ca'>;

/** Options of a TLS server. */
export async function readTls({
  cert,
  key,
  ca,
}: TlsFiles): Promise<Pems & { readonly requestCert: boolean }> {
  const read = (path: string): Promise<string> =>
    readFile(path, 'utf8').catch((error: Error) => {
      throw new SettingsError(`the certificate cannot be read: ${error.message}`);
    });
  return {
    cert: await read(cert),
    key: await read(key),
    ...(ca !== undefined && { ca: await read(ca) }),
    requestCert: ca !== undefined,
  };
}

const refreshMs = 5_000;

/** Reloads certificates when the files change, for new connections. Returns a function that stops it. */
export function watchCertificates(server: Server, files: TlsFiles, first: Pems, log: Log): () => void {
  let before = JSON.stringify(first);
  const refresh = async (): Promise<void> => {
    try {
      const pems = await readTls(files);
      if (JSON.stringify(pems) === before) return;
      server.setSecureContext(pems);
      before = JSON.stringify(pems);
      log.info({ cert: files.cert }, 'certificate read again');
    } catch (error) {
      // During a replacement certificate and key may not match: the next reload finds both.
      log.warn({ err: error, cert: files.cert }, 'certificate not reloaded: the previous one stays in use');
    }
  };
  const timer = setInterval(() => void refresh(), files.refreshMs ?? refreshMs);
  timer.unref();
  return () => clearInterval(timer);
}
