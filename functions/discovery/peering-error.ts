import { HttpError } from '../../shared/server/http-response.ts';

/** The reasons to refuse a peering, with their HTTP status. */
const statuses = {
  'unknown-peer': 403,
  'expired-peer': 403,
  'wrong-key': 403,
  'bad-signature': 403,
  'bad-request': 403,
  drained: 403,
  replayed: 409,
  'no-nonce': 410,
  'expired-nonce': 410,
  'too-many': 429,
  unavailable: 503,
} as const;

export type PeeringErrorCode = keyof typeof statuses;

/** A refused peering, with the reason that it is counted under. */
export class PeeringError extends HttpError {
  readonly result: PeeringErrorCode;
  constructor(result: PeeringErrorCode, why: string, retryAfterSeconds?: number) {
    super(
      statuses[result],
      why,
      { reason: result },
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    );
    this.result = result;
  }
}
