import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Tls } from '../schema/tls.ts';
import type { Fail } from './failure.ts';

/** Read at every use, as a renewed CA needs no restart. `section` is where the options stand in the inventory. */
export async function tlsOptions(
  tls: Tls | undefined,
  section: string,
  fail: Fail,
): Promise<ConnectionOptions> {
  if (tls?.caFile === undefined) return { rejectUnauthorized: !tls };
  try {
    return { ca: await readFile(tls.caFile) };
  } catch (error) {
    throw fail('config', `${section}.tls.caFile cannot be read: ${(error as Error).message}`);
  }
}

const digits = (fingerprint: string) => fingerprint.replace(/^sha256:|:/gi, '').toLowerCase();

/** Runs before the first byte is sent. */
export function checkFingerprint(socket: TLSSocket, tls: Tls | undefined, section: string, fail: Fail): void {
  if (tls?.fingerprint === undefined) return;
  const certificate = socket.getPeerX509Certificate();
  const seen = certificate && createHash('sha256').update(certificate.raw).digest('hex');
  if (seen === digits(tls.fingerprint)) return;
  throw fail(
    'config',
    `its certificate is not the pinned one (it shows sha256:${seen}). Nothing was sent. If it was renewed, update ${section}.tls.fingerprint; if not, find out who answers there`,
  );
}

/** Codes of Node.js for a certificate of an unknown CA, for another name, or out of date. */
const untrusted =
  /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_SIGNATURE_FAILURE|ERR_TLS_CERT_ALTNAME_INVALID|CERT_HAS_EXPIRED/;

export const tlsHint = (code: string, section: string): string =>
  untrusted.test(code)
    ? `. Set ${section}.tls.caFile to the CA of its certificate, or ${section}.tls.fingerprint to the certificate's own`
    : '';
