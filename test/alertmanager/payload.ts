import { readFileSync } from 'node:fs';
import type { BamelEvent } from '../../shared/ports/events.ts';

/** A recorded webhook: exactly what Alertmanager sent. */
export const fixture = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../fixtures/events/alertmanager-${name}.json`, import.meta.url), 'utf8'))
    .body;

interface AlertParts {
  readonly status?: 'firing' | 'resolved';
  readonly fingerprint?: string;
  readonly startsAt?: string;
}

/** A webhook with one alert; with a pool, it asks for a machine of it. */
export function webhook(
  { pool }: { readonly pool?: string },
  {
    status = 'firing',
    fingerprint = 'de6a772ee85a215f',
    startsAt = '2026-11-16T01:41:01.579Z',
  }: AlertParts = {},
): Record<string, unknown> {
  const labels = { alertname: 'Busy', ...(pool && { bamel_scale: 'up', pool }) };
  return {
    ...fixture('0.25-firing'),
    status,
    alerts: [{ status, labels, annotations: {}, startsAt, endsAt: startsAt, generatorURL: '', fingerprint }],
  };
}

export const webhookEvent = (...args: Parameters<typeof webhook>): BamelEvent => ({
  type: 'dev.bamel.alert.received',
  subject: 'everything',
  data: webhook(...args),
});
