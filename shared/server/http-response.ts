import type { OutgoingHttpHeaders } from 'node:http';

/** A response: JSON that a person can read, or text or bytes, or nothing. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
}

/** Serializes JSON here, where a failure can still be replaced by an error response. */
export function renderResponse(response: HttpResponse): HttpResponse {
  const { status, headers, json } = response;
  if (json === undefined) return response;
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: `${JSON.stringify(json, null, 2)}\n`,
  };
}

/** An error of the request, with the response to its sender. */
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
