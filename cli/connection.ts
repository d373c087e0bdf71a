import { readFile } from 'node:fs/promises';
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
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(new URL(path, url), {
      ...init,
      headers: { ...headers, ...init.headers },
      signal: AbortSignal.timeout(longestMs),
    }).catch((cause: unknown) => {
      throw new Error(
        `the host does not answer at ${url}: set BAMEL_URL or give --server, or --store to read the store itself`,
        { cause },
      );
    });
    if (answer.status === 401)
      throw new Error(
        `the host at ${url} requires ${token ? 'another token' : 'a token'}: set BAMEL_TOKEN_FILE or give --token-file`,
      );
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    return { answer, body };
  };
  return {
    url,
    async get(path) {
      const { answer, body } = await ask(path);
      if (answer.ok) return body;
      if (answer.status === 404) return undefined;
      throw new Error(String(body.error ?? `the host at ${url} answered ${answer.status}`));
    },
    async post(path, body) {
      const { answer, body: said } = await ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return {
        ok: answer.ok,
        body: answer.ok ? said : { error: `the host answered ${answer.status}`, ...said },
      };
    },
  };
}
