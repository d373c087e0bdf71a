import type { OutgoingHttpHeaders } from 'node:http';

/** What a request is answered with: JSON that a person can read, or ready-made text or bytes, or nothing. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
}

/** JSON becomes text here, where an answer that has no JSON can still be replaced by an error. */
export function renderResponse(response: HttpResponse): HttpResponse {
  const { status, headers, json } = response;
  if (json === undefined) return response;
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: `${JSON.stringify(json, null, 2)}\n`,
  };
}

/** Thrown anywhere on the way to the function: the request is at fault, and this is what its sender is told. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly answer: HttpResponse;
  constructor(
    status: number,
    error: string,
    more: Record<string, unknown> = {},
    headers: OutgoingHttpHeaders = {},
  ) {
    super(error);
    this.answer = { status, headers, json: { error, ...more } };
  }
}
