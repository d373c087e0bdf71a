import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Io, UsageError } from './command.ts';

/** The host that a command talks to. */
export interface Connection {
  readonly url: string;
  /** Undefined: it has nothing at that path. */
  get(path: string): Promise<unknown | undefined>;
  post(path: string, body: object): Promise<{ readonly ok: boolean; readonly body: Record<string, unknown> }>;
}

export interface ConnectionOptions {
  readonly server?: string | undefined;
  readonly 'token-file'?: string | undefined;
}

const longestMs = 30_000;

export async function connectTo(
  { server, 'token-file': file }: ConnectionOptions,
  { env }: Io,
): Promise<Connection> {
  const url = server ?? env.BAMEL_URL ?? `http://127.0.0.1:${env.PORT ?? '8080'}`;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`--server ${url} is no address: http://HOST:PORT is one`);
  const tokenFile = file ?? env.BAMEL_TOKEN_FILE;
  const token = tokenFile && (await readFile(tokenFile, 'utf8')).trim();
  const headers = { ...(token && { authorization: `Bearer ${token}` }) };
  const ask = async (path: string, body?: object) => {
    const { status, text: answered } = await exchange(
      new URL(path, url),
      headers,
      body && JSON.stringify(body),
    ).catch((cause: unknown) => {
      throw new Error(
        `the host does not answer at ${url}: set BAMEL_URL or give --server, or --store to read the store itself`,
        { cause },
      );
    });
    if (status === 401)
      throw new Error(
        `the host at ${url} requires ${token ? 'another token' : 'a token'}: set BAMEL_TOKEN_FILE or give --token-file`,
      );
    return { ok: status >= 200 && status < 300, status, body: objectOf(answered) };
  };
  return {
    url,
    async get(path) {
      const { ok, status, body } = await ask(path);
      if (ok) return body;
      if (status === 404) return undefined;
      throw new Error(String(body.error ?? `the host at ${url} answered ${status}`));
    },
    async post(path, request) {
      const { ok, status, body } = await ask(path, request);
      return { ok, body: ok ? body : { error: `the host answered ${status}`, ...body } };
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * One request on Node's own client: fetch adds 35 ms of cpu to the start of every command, axios 100 ms. Redirects are
 * not followed, so that the token reaches the named host only.
 */
const exchange = (to: URL, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(longestMs),
    };
    // An import of node:http would read all of its exports, and so load the whole of fetch.
    const { request: send } = process.getBuiltinModule(to.protocol === 'https:' ? 'node:https' : 'node:http');
    const request = send(to, options, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), reject);
    });
    request.on('error', reject).end(body);
  });

/** What is not JSON (a proxy's page) has no fields. */
function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
