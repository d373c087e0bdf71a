import { createHash, randomBytes } from 'node:crypto';

const algorithms: Readonly<Record<string, string>> = { md5: 'md5', 'sha-256': 'sha256' };

/**
 * The answer to a digest challenge (RFC 7616, qop auth): the password itself is not sent. Undefined: there is no
 * challenge of a kind we know.
 */
export function digestAnswer(
  challenge: string | undefined,
  { username, password }: { readonly username: string; readonly password: string },
  { method, uri }: { readonly method: string; readonly uri: string },
  cnonce: string = randomBytes(16).toString('hex'),
): string | undefined {
  const given = challenge && /^digest\s/i.test(challenge) ? parameters(challenge) : {};
  const { realm, nonce, opaque, algorithm = 'MD5' } = given;
  const hashName = algorithms[algorithm.toLowerCase()];
  const offersAuth = given.qop?.split(',').some((qop) => qop.trim() === 'auth');
  if (realm === undefined || !nonce || !hashName || !offersAuth) return undefined;
  // Whatever it sent stands between quotes in what we send.
  if ([realm, nonce, opaque, username, uri].some((text) => text && /["\\\r\n]/.test(text))) return undefined;
  const hash = (text: string) => createHash(hashName).update(text).digest('hex');
  const nc = '00000001';
  const who = hash(`${username}:${realm}:${password}`);
  const what = hash(`${method}:${uri}`);
  const response = hash([who, nonce, nc, cnonce, 'auth', what].join(':'));
  const quoted = { username, realm, nonce, uri, response, cnonce, ...(opaque !== undefined && { opaque }) };
  const parts = Object.entries(quoted).map(([name, value]) => `${name}="${value}"`);
  return `Digest ${[...parts, `algorithm=${algorithm}`, 'qop=auth', `nc=${nc}`].join(', ')}`;
}

function parameters(challenge: string): Partial<Record<string, string>> {
  const found = challenge.matchAll(/(\w+)=(?:"([^"\\]*)"|([^\s,"]+))/g);
  return Object.fromEntries(
    [...found].map(([, name = '', quoted, bare]) => [name.toLowerCase(), quoted ?? bare]),
  );
}
