import { StaleEvent } from './event-guard.ts';
import type { HttpError } from './http-response.ts';

const byStatus: Readonly<Record<number, string>> = {
  400: 'malformed',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  405: 'wrong-method',
  408: 'slow',
  413: 'too-large',
  415: 'unsupported',
  429: 'too-many',
  503: 'unchecked',
};

/** The metric label of a refused request. */
export const refusalReason = (error: HttpError): string =>
  error instanceof StaleEvent ? 'stale' : (byStatus[error.answer.status] ?? 'other');
