import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { SettingsError } from '../process/flags.ts';
import { HttpError } from './http-response.ts';
import type { May } from './routes.ts';

/** The callers' secret, or several, one per line. Asked for every request, so that a change needs no restart. */
export type TokenSource = () => Promise<string | undefined>;

/** The account that a token speaks for; undefined: not one that may call. Throws when that cannot be known. */
export type TokenReview = (token: string, address: string) => Promise<string | undefined>;

interface Caller {
  /** Whom a limit counts for; never the token itself. */
  readonly name: string;
  readonly may: May;
}

/** Throws HttpError when the caller may not call. */
type Authenticator = (request: IncomingMessage) => Promise<Caller>;

/** Callers who may tell of one thing, and nothing else. */
interface EventReporters {
  readonly token?: TokenSource | undefined;
  /** Of Kubernetes, a `*` at the end for all that begin so. */
  readonly accounts: readonly string[];
  /** The type of the events that they may send … */
  readonly event: string;
  /** … and where to. */
  readonly paths: readonly string[];
}

export interface CallerOptions {
  readonly host: string;
  readonly token?: TokenSource | undefined;
  /** Who has it may look, and nothing else. */
  readonly readToken?: TokenSource | undefined;
  readonly review?: TokenReview | undefined;
  readonly reporters?: EventReporters | undefined;
  /** Only who shows a certificate that we asked for gets here at all. */
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
  // Read once at the start: whoever names a file that is not there is told at once.
  await readToken?.();
  await reporters?.token?.();
  if (token || review) return (request) => checkBearer(request, { token, readToken, review, reporters });
  if (readToken)
    throw new SettingsError(
      'BAMEL_READ_TOKEN_FILE says who may look, but nobody says who may act: set BAMEL_TOKEN_FILE as well.',
    );
  if (reporters?.token)
    throw new SettingsError(
      'BAMEL_PRESSURE_TOKEN_FILE says who may tell of pressure, but nobody says who may act: set BAMEL_TOKEN_FILE as well.',
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
    `not listening on ${host} without a token: whoever reaches it could power machines off. ` +
      'Set BAMEL_TOKEN_FILE, or BAMEL_INSECURE=true where the network itself is trusted.',
  );
}

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? 'nobody';

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

/** By the headers alone, so only as they say what the body is: an event in it could be of any type. */
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

/** Whether a name, or a pattern that ends in `*`, means the account. */
export const isAccount = (pattern: string, account: string): boolean =>
  pattern.endsWith('*') ? account.startsWith(pattern.slice(0, -1)) : account === pattern;

async function isOneOf(given: string, source: TokenSource | undefined): Promise<boolean> {
  const allowed = ((await source?.()) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  // Hashes have one length, so that comparing takes the same time whatever was sent.
  return allowed.filter((one) => timingSafeEqual(sha256(one), sha256(given))).length > 0;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
const nameOf = (token: string): string => `token ${sha256(token).toString('hex').slice(0, 12)}`;

/** A web page whose name was made to resolve to this machine still sends its own name here. */
function checkHost({ headers }: IncomingMessage): void {
  const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
  if (name === 'localhost' || isLoopback(name.replace(/^\[(.*)\]$/, '$1'))) return;
  throw new HttpError(
    403,
    `Host ${headers.host ?? '(none)'} is not this machine: without a token only 127.0.0.1, localhost and [::1] are answered`,
  );
}

/** Browsers say where a script comes from; only our own pages may call. */
function checkOrigin({ headers }: IncomingMessage): void {
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new HttpError(403, `a page of ${origin} may not call this: set BAMEL_TOKEN_FILE and send the token`);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
