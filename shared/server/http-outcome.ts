import type { Outcome } from '../core/outcome.ts';
import type { HttpResponse } from './http-response.ts';

/**
 * To whoever sent CloudEvents. Knative takes a 2xx body for a follow-up event, so there is none. 503 is
 * delivered again; 500 is not used for anything, because sources drop the event at once on it. 422 goes to the
 * dead letters at once, and its body with it.
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

/** To a person or a webhook. */
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

/** For several events in one request. Later beats rejected: a repeat is harmless, an event lost to its neighbour is not. */
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
