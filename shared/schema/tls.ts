import { z } from 'zod';

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
      .describe('sha256:… of its certificate: that one and no other, whatever its issuer and name'),
    insecure: z.literal(true).optional().describe('accept any certificate: traffic can be intercepted'),
  })
  .refine((tls) => Object.values(tls).filter((value) => value !== undefined).length === 1, {
    error: 'set one of caFile, fingerprint and insecure',
  })
  .describe("how its certificate is checked; when not set, by the system's CAs");

export type Tls = z.output<typeof Tls>;
