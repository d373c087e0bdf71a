import { STATUS_CODES } from 'node:http';
import { ClusterError } from '../../ports/cluster.ts';
import { PowerError } from '../../ports/power.ts';
import { ApiException } from './transport.ts';

const codes: Readonly<Record<number, ClusterError['code']>> = {
  404: 'not-found',
  409: 'conflict',
  429: 'unavailable',
};

export function toClusterError(error: unknown): ClusterError {
  if (!(error instanceof ApiException))
    return new ClusterError('unavailable', `the Kubernetes API server does not answer (${problemOf(error)})`);
  const code = codes[error.code] ?? (error.code >= 500 ? 'unavailable' : 'refused');
  return new ClusterError(code, `the Kubernetes API server answered ${problemOf(error)}`, {
    retryAfterMs: retryAfter(error),
  });
}

const powerCodes: Readonly<Record<number, PowerError['code']>> = {
  400: 'config',
  404: 'config',
  422: 'config',
  429: 'busy',
};

/** Maps a failed request to a PowerError. `what` names the object in the message. */
export function toPowerError(what: string, error: unknown): PowerError {
  if (error instanceof PowerError) return error;
  if (!(error instanceof ApiException))
    return new PowerError(
      'unreachable',
      `${what}: the Kubernetes API server does not answer (${problemOf(error)})`,
    );
  const code = powerCodes[error.code] ?? (error.code >= 500 ? 'unreachable' : 'refused');
  const hint = error.code === 403 ? '. Give our ServiceAccount the right to do so' : '';
  return new PowerError(code, `${what}: the Kubernetes API server answered ${problemOf(error)}${hint}`, {
    retryAfterMs: retryAfter(error),
  });
}

/** Undefined where the API server answers that the object does not exist. */
export async function ifFound<Value>(request: Promise<Value>): Promise<Value | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiException && error.code === 404) return undefined;
    throw error;
  }
}

/** What went wrong, in a few words. */
export function problemOf(error: unknown): string {
  if (error instanceof ApiException) return `${error.code}: ${statusOf(error).message}`;
  if (!(error instanceof Error)) return String(error);
  // Some errors say only that something failed; the reason is in the cause.
  const { code, message } = (error.cause ?? {}) as { code?: unknown; message?: unknown };
  const cause = code ?? message;
  return cause ? `${error.message}: ${cause}` : error.message;
}

/** Why an eviction was refused; the causes name the budget. */
export function blockedBy(error: ApiException): string {
  const { message, details } = statusOf(error);
  return [message, ...(details?.causes ?? []).map((cause) => cause.message)].filter(Boolean).join(' ');
}

export function retryAfter(error: ApiException): number | undefined {
  const seconds = Number(error.headers['retry-after']);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

interface Status {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly message?: string }[] };
}

/** The body of an ApiException is the Status as text. */
function statusOf({ body, code }: ApiException): Status {
  // The client keeps no body of a 401.
  if (body === undefined) return { message: STATUS_CODES[code] ?? 'no explanation' };
  try {
    const status = JSON.parse(String(body)) as Partial<Status>;
    return { ...status, message: status.message ?? String(body) };
  } catch {
    // Not every proxy on the way answers JSON; its text is then the message.
    return { message: String(body) };
  }
}
