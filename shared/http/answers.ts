import type { z } from 'zod';
import type { HttpAnswer } from './exchange.ts';
import type { HttpPeer } from './peer.ts';

/** The answer when it is a success, else the PowerError it amounts to. `detail` is added to other refusals. */
export function accepted(
  { who, section, fail }: Pick<HttpPeer, 'who' | 'section' | 'fail'>,
  answer: HttpAnswer,
  credentials = 'bmcCredentials',
  detail = '',
): HttpAnswer {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return answer;
  if (status >= 300 && status < 400)
    throw fail(
      'refused',
      `${who} sends us elsewhere (${status}), where we do not go. Correct mgmtAddress or the ${section} options`,
    );
  if (status === 401 || status === 403)
    throw fail(
      'auth',
      `${who} refused the credentials (${status}). Not trying again so that the account is not locked. Update ${credentials}`,
    );
  if (status === 429 || status === 503)
    throw fail('busy', `${who} is busy (${status})${detail}`, retryAfterMs(headers['retry-after']));
  throw fail('refused', `${who} answered ${status}${detail}`);
}

/** The header holds seconds or a date. */
export function retryAfterMs(header: unknown, now = Date.now()): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The JSON of an answer as the schema has it; `what` names it in the error. */
export function parsed<Value>(
  { who, fail }: Pick<HttpPeer, 'who' | 'fail'>,
  schema: z.ZodType<Value>,
  { text }: HttpAnswer,
  what: string,
): Value {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Not its text: it may repeat what was sent.
    throw fail('refused', `${who}'s ${what} is not JSON`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const paths = result.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  throw fail('refused', `${who}'s ${what} is not as expected (${paths.slice(0, 3).join('; ')})`);
}
