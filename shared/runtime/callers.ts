import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { SettingsError } from './flags.ts';
import { HttpError } from './http-answer.ts';

/** The callers' secret, or several, one per line. Asked for every request, so that a change needs no restart. */
export type TokenSource = () => Promise<string | undefined>;

/** Throws HttpError when the caller may not call. */
export type CallerCheck = (request: IncomingMessage) => Promise<void>;

export function tokenFromFile(path: string): TokenSource {
  return async () => {
    const text = await readFile(path, 'utf8');
    if (text.trim() === '')
      throw new Error(`the token file ${path} is empty: put the callers' secret into it`);
    return text;
  };
}

export async function checkCallers(options: {
  readonly host: string;
  readonly token?: TokenSource | undefined;
  readonly insecure?: boolean | undefined;
}): Promise<CallerCheck> {
  const { host, token, insecure } = options;
  if (token && (await token()) !== undefined) return (request) => checkToken(request, token);
  if (isLoopback(host))
    return async (request) => {
      checkHost(request);
      checkOrigin(request);
    };
  if (insecure) return async (request) => checkOrigin(request);
  throw new SettingsError(
    `not listening on ${host} without a token: whoever reaches it could power machines off. ` +
      'Set BAMEL_TOKEN_FILE, or BAMEL_INSECURE=true where the network itself is trusted.',
  );
}

async function checkToken(request: IncomingMessage, token: TokenSource): Promise<void> {
  const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const allowed = ((await token()) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  // Hashes have one length, so that comparing takes the same time whatever was sent.
  if (allowed.filter((one) => timingSafeEqual(sha256(one), sha256(given))).length > 0) return;
  throw new HttpError(
    401,
    given ? 'the token is not the right one' : 'a token is needed: send Authorization: Bearer <token>',
    {},
    { 'www-authenticate': 'Bearer realm="bamel"' },
  );
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
