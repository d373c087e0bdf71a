import type { DeadLetter } from '../../shared/ports/events.ts';
import type { ReceivedEvent } from '../../shared/server/cloud-event.ts';

/** Extension attributes that Knative adds to an undeliverable event. */
const added = {
  code: 'knativeerrorcode',
  data: 'knativeerrordata',
  destination: 'knativeerrordest',
} as const;

export function toDeadLetter({ type, data, attributes }: ReceivedEvent, now: number): DeadLetter {
  const text = (name: string): string => String(attributes[name] ?? '');
  const code = text(added.code);
  const answer = errorIn(text(added.data));
  return {
    event: { type, subject: text('subject'), data: isRecord(data) ? data : {} },
    function: functionAt(text(added.destination)),
    lastError: [code && `it answered ${code}`, answer].filter(Boolean).join(': ') || 'no reason was given',
    at: now,
  };
}

/**
 * Through a broker's filter the destination names the trigger, which is named after its function; otherwise
 * it is the host name.
 */
function functionAt(destination: string): string {
  if (!URL.canParse(destination)) return 'unknown';
  const { pathname, hostname } = new URL(destination);
  return /\/triggers\/[^/]+\/([^/]+)/.exec(pathname)?.[1] ?? hostname.split('.')[0] ?? 'unknown';
}

/**
 * The body of the last response, as base64; ours are `{"error": …}`, and a broker's filter wraps them once
 * more.
 */
function errorIn(encoded: string): string {
  const body = Buffer.from(encoded, 'base64').toString('utf8').trim();
  const parsed = parseOrText(body);
  if (!isRecord(parsed)) return body;
  if (typeof parsed.errresponsebody === 'string') return errorIn(parsed.errresponsebody);
  return typeof parsed.error === 'string' ? parsed.error : body;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Other services respond in plain text.
    return text;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
