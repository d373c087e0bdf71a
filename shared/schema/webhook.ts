import { z } from 'zod';

/** Alertmanager's webhook, as much of it as we rely on: versions differ in the rest. */
export const Webhook = z.looseObject({
  version: z.literal('4'),
  alerts: z.array(
    z.looseObject({
      status: z.enum(['firing', 'resolved']),
      labels: z.record(z.string(), z.string()),
      fingerprint: z.string().regex(/^[0-9a-f]{1,64}$/i, 'write hexadecimal digits'),
      startsAt: z.iso.datetime({ offset: true }).max(64),
    }),
  ),
});

/** Whether a body is meant as a webhook, right or not. */
export const looksLikeWebhook = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'alerts' in body && 'version' in body;
