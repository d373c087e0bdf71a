import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { z } from 'zod';
import type { Fail } from './failure.ts';

/** How the other side's certificate is checked; without it, by the CAs that Node.js knows. */
export const Tls = z
  .strictObject({
    caFile: z.string().min(1).optional().describe('PEM file with the CA that signed its certificate'),
    fingerprint: z
      .string()
      .regex(
        /^sha256:([0-9a-f]{64}|([0-9a-f]{2}:){31}[0-9a-f]{2})$/i,
        'sha256: and 64 hex digits, as of openssl x509 -noout -fingerprint -sha256',
      )
      .optional()
      .describe('sha256:… of its certificate: that one and no other, whoever signed it for whatever name'),
    insecure: z.literal(true).optional().describe('take any certificate: anybody in between can read along'),
  })
  .refine((tls) => Object.values(tls).filter((value) => value !== undefined).length === 1, {
    error: 'set one of caFile, fingerprint and insecure',
  })
  .describe("how its certificate is checked; when not set, by the system's CAs");

export type Tls = z.output<typeof Tls>;

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
