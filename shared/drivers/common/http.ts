import type { Agent } from 'node:http';
import type { z } from 'zod';
import { type DriverDeps, PowerError } from '../../ports.ts';
import { onItsOwn, onSharedConnection } from './exchange.ts';
import type { Fail } from './failure.ts';
import { type Tls, tlsHint } from './tls.ts';

export interface HttpPeer {
  /** Who that is, in messages: "its BMC". */
  readonly who: string;
  /** Requests go to this scheme, host and port and to no other. */
  readonly address: URL;
  readonly tls?: Tls | undefined;
  /** Where the driver's options stand in the inventory, for messages: `redfish`. */
  readonly section: string;
  readonly resolve: DriverDeps['resolve'];
  readonly fail: Fail;
  /** See `keptOpen`; without, every request has a connection of its own. */
  readonly agent?: Agent;
}

export interface HttpRequest {
  readonly method: string;
  /** Absolute, or a URL on the peer's own address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * One request, without redirects or proxies, to the address that `resolve` checked: on the connection of its
 * conversation, or on one of its own (BMCs drop idle ones). Resolves with whatever status came; see `accepted`. Throws PowerErrors only; none carries what was
 * sent. After the signal aborts nothing is sent and the connection is cut: that is a `timeout`.
 */
export async function httpRequest(
  peer: HttpPeer,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { address, fail, who } = peer;
  const url = URL.parse(request.path, address.href);
  // The peer says where its resources are: nobody else gets to see the password.
  if (url?.origin !== address.origin)
    throw fail('refused', `${who} points to ${url?.origin ?? 'nowhere'}, which is not its address`);
  try {
    const to = { ...peer, url };
    // What changes something never goes where nobody may be listening any more.
    const shared = request.method === 'GET' && (await onSharedConnection(to, request, signal));
    return shared || (await onItsOwn(to, request, signal));
  } catch (error) {
    throw asPowerError(peer, error, signal);
  }
}

function asPowerError(
  { who, address, section, fail }: HttpPeer,
  error: unknown,
  signal: AbortSignal,
): PowerError {
  if (error instanceof PowerError) return error;
  if (signal.aborted) return fail('timeout', `${who} did not answer in time`);
  const code = typeof error === 'object' && error && 'code' in error ? String(error.code) : 'unknown error';
  if (code.startsWith('HPE_'))
    return fail('refused', `${who} at ${address.host} does not speak HTTP (${code})`);
  const hint = tlsHint(code, section);
  return fail('unreachable', `${who} at ${address.origin} cannot be reached (${code})${hint}`);
}

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
export function retryAfterMs(header: unknown): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
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

/** mgmtAddress as a URL for drivers that speak HTTP. */
export function httpAddress(mgmtAddress: string | undefined, driver: string, fail: Fail): URL {
  const address = URL.parse(mgmtAddress ?? '');
  if (!address || !/^https?:$/.test(address.protocol))
    throw fail('config', `powerInterface ${driver} needs mgmtAddress, such as https://10.0.0.5`);
  // It would stand in the store and in messages.
  if (address.username || address.password)
    throw fail('config', 'mgmtAddress has a user or password in it: use bmcCredentials for them');
  return address;
}

/** The header for a user and a password. */
export const basicAuth = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
