import type { Outcome } from '../core/outcome.ts';
import type { HttpResponse } from './http-response.ts';

/**
 * The response to CloudEvents. Knative treats a 2xx body as a follow-up event, so there is none. 503 is
 * redelivered; 500 is not used, because sources drop the event on it. 422 goes to the dead letters at once,
 * together with its body.
 */
export function eventResponse(outcome: Outcome): HttpResponse {
  switch (outcome.kind) {
    case 'done':
      return { status: 204 };
    case 'retry-later':
      return { status: 503, headers: retryAfter(outcome.afterMs) };
    case 'rejected':
      return { status: 422, json: { error: outcome.why } };
  }
}

/** The response to a person or a webhook. */
export function jsonResponse(outcome: Outcome): HttpResponse {
  switch (outcome.kind) {
    case 'done':
      return { status: 200, json: outcome.answer ?? {} };
    case 'retry-later':
      return {
        status: 503,
        headers: retryAfter(outcome.afterMs),
        json: { error: outcome.why, retryAfterSeconds: wholeSeconds(outcome.afterMs) },
      };
    case 'rejected':
      return { status: 422, json: { error: outcome.why } };
  }
}

/**
 * For several events in one request. Retry-later wins over rejected: a repeat is harmless, a lost event is
 * not.
 */
export function worstOutcome(outcomes: readonly Outcome[]): Outcome {
  return (
    outcomes.find(({ kind }) => kind === 'retry-later') ??
    outcomes.find(({ kind }) => kind === 'rejected') ?? { kind: 'done', answer: undefined }
  );
}

const retryAfter = (afterMs: number) => ({ 'retry-after': String(wholeSeconds(afterMs)) });

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
