import { token, tokenWanted } from './token.ts';

/** The host answered, but not with what was asked for. Its message says why. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const patienceMs = 15_000;

/** One request to the host, and never to anybody else: below the page's own address, wherever a proxy put that. */
export async function call(path: `/${string}`, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token.value) headers.set('authorization', `Bearer ${token.value}`);
  const response = await fetch(`.${path}`, { signal: AbortSignal.timeout(patienceMs), ...init, headers });
  if (response.ok || response.status === 304) return response;
  if (response.status === 401) tokenWanted.value = true;
  throw new Refused(response.status, await messageOf(response));
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { error?: string }).error ?? text;
  } catch {
    // A proxy in between speaks in its own words.
    return text || `the host answered ${response.status}`;
  }
}

/** Asks a function to do something, as a person would by hand. */
export async function post(path: `/${string}`, body: object): Promise<unknown> {
  const response = await call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.status === 204 ? undefined : response.json();
}
