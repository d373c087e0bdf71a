import { STATUS_CODES } from 'node:http';
import { ClusterError } from '../ports.ts';
import { type ApiException, isAnswer } from './kube-transport.ts';

const codes: Readonly<Record<number, ClusterError['code']>> = {
  404: 'not-found',
  409: 'conflict',
  429: 'unavailable',
};

export function toClusterError(error: unknown): ClusterError {
  if (!isAnswer(error))
    return new ClusterError('unavailable', `the Kubernetes API server does not answer (${problemOf(error)})`);
  const code = codes[error.code] ?? (error.code >= 500 ? 'unavailable' : 'refused');
  return new ClusterError(code, `the Kubernetes API server answered ${problemOf(error)}`, {
    retryAfterMs: retryAfter(error),
  });
}

/** What went wrong, in a few words: an ApiException's own message repeats every header. */
export function problemOf(error: unknown): string {
  if (isAnswer(error)) return `${error.code}: ${statusOf(error).message}`;
  if (!(error instanceof Error)) return String(error);
  // fetch says only that it failed; why is in the cause.
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
