import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { SettingsError } from '../process/flags.ts';
import { HttpError } from './http-response.ts';
import type { May } from './routes.ts';

/** The callers' secrets, one per line. Read for every request, so that a change needs no restart. */
export type TokenSource = () => Promise<string | undefined>;

/** The account of a token; undefined: it may not call. Throws if that cannot be determined. */
export type TokenReview = (token: string, address: string) => Promise<string | undefined>;

interface Caller {
  /** The key of the rate limit; never the token itself. */
  readonly name: string;
  readonly may: May;
}

/** Throws HttpError if the caller is not authenticated. */
type Authenticator = (request: IncomingMessage) => Promise<Caller>;

/** Callers that may only send one type of event. */
interface EventReporters {
  readonly token?: TokenSource | undefined;
  /** Kubernetes accounts; a trailing `*` matches any suffix. */
  readonly accounts: readonly string[];
  /** The event type that they may send … */
  readonly event: string;
  /** … and where to. */
  readonly paths: readonly string[];
}

export interface CallerOptions {
  readonly host: string;
  readonly token?: TokenSource | undefined;
  /** A token with read-only access. */
  readonly readToken?: TokenSource | undefined;
  readonly review?: TokenReview | undefined;
  readonly reporters?: EventReporters | undefined;
  /** TLS client certificates are required. */
  readonly certificates?: boolean | undefined;
  /** Listen beyond loopback without a token. */
  readonly insecure?: boolean | undefined;
}

export function tokenFromFile(path: string): TokenSource {
  return async () => {
    const text = await readFile(path, 'utf8');
    if (text.trim() === '')
      throw new Error(`the token file ${path} is empty: put the callers' secret into it`);
    return text;
  };
}

export async function createAuthenticator(options: CallerOptions): Promise<Authenticator> {
  const { host, readToken, review, reporters, certificates, insecure } = options;
  const token = options.token && (await options.token()) !== undefined ? options.token : undefined;
  // Read once at the start, to report a missing file at once.
  await readToken?.();
  await reporters?.token?.();
  if (token || review) return (request) => checkBearer(request, { token, readToken, review, reporters });
  if (readToken)
    throw new SettingsError(
      'BAMEL_READ_TOKEN_FILE is set without a token that may act: set BAMEL_TOKEN_FILE as well.',
    );
  if (reporters?.token)
    throw new SettingsError(
      'BAMEL_PRESSURE_TOKEN_FILE is set without a token that may act: set BAMEL_TOKEN_FILE as well.',
    );
  if (certificates) return async (request) => ({ name: addressOf(request), may: 'act' });
  if (isLoopback(host))
    return async (request) => {
      checkHost(request);
      checkOrigin(request);
      return { name: addressOf(request), may: 'act' };
    };
  if (insecure)
    return async (request) => {
      checkOrigin(request);
      return { name: addressOf(request), may: 'act' };
    };
  throw new SettingsError(
    `not listening on ${host} without a token: every client that reaches it could power machines off. ` +
      'Set BAMEL_TOKEN_FILE, or BAMEL_INSECURE=true where the network itself is trusted.',
  );
}

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? 'unknown';

async function checkBearer(
  request: IncomingMessage,
  {
    token,
    readToken,
    review,
    reporters,
  }: Pick<CallerOptions, 'token' | 'readToken' | 'review' | 'reporters'>,
): Promise<Caller> {
  const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (await isOneOf(given, token)) return { name: nameOf(given), may: 'act' };
  if (reporters && (await isOneOf(given, reporters.token)))
    return checkReport(request, reporters, nameOf(given));
  if (await isOneOf(given, readToken)) return { name: nameOf(given), may: 'read' };
  const account = given && review ? await review(given, addressOf(request)) : undefined;
  if (account !== undefined)
    return reporters?.accounts.some((one) => isAccount(one, account))
      ? checkReport(request, reporters, account)
      : { name: account, may: 'act' };
  throw new HttpError(
    401,
    given ? 'the token is not the right one' : 'a token is needed: send Authorization: Bearer <token>',
    {},
    { 'www-authenticate': 'Bearer realm="bamel"' },
  );
}

/** Decided by the headers alone, so only binary mode is allowed: a structured event could have any type. */
function checkReport(
  { method, url = '', headers }: IncomingMessage,
  reporters: EventReporters,
  name: string,
): Caller {
  const { event, paths } = reporters;
  const [path = ''] = url.split('?', 1);
  const isReport =
    method === 'POST' &&
    paths.includes(path) &&
    headers['ce-type'] === event &&
    /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
  if (isReport) return { name, may: 'act' };
  throw new HttpError(
    403,
    `this token may only send events of type ${event}, in binary mode with JSON, to ${paths.join(' or ')}`,
  );
}

/** Whether a name, or a pattern with a trailing `*`, matches the account. */
export const isAccount = (pattern: string, account: string): boolean =>
  pattern.endsWith('*') ? account.startsWith(pattern.slice(0, -1)) : account === pattern;

async function isOneOf(given: string, source: TokenSource | undefined): Promise<boolean> {
  const allowed = ((await source?.()) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  // Hashes have one length, so that the comparison takes constant time.
  return allowed.filter((one) => timingSafeEqual(sha256(one), sha256(given))).length > 0;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
const nameOf = (token: string): string => `token ${sha256(token).toString('hex').slice(0, 12)}`;

/** Prevents DNS rebinding: a page whose name resolves to this machine still sends its own name. */
function checkHost({ headers }: IncomingMessage): void {
  const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  if (name === 'localhost' || isLoopback(name.replace(/^\[(.*)\]$/, '$1'))) return;
  throw new HttpError(
    403,
    `Host ${headers.host ?? '(none)'} is not this machine: without a token only 127.0.0.1, localhost and [::1] are answered`,
  );
}

/** Only scripts of our own pages may call. */
function checkOrigin({ headers }: IncomingMessage): void {
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new HttpError(403, `a page of ${origin} may not call this: set BAMEL_TOKEN_FILE and send the token`);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
