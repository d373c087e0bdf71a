import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpResponse, renderResponse } from './http-response.ts';
import { discardBody, hasBody } from './request-body.ts';

/** Writes the response. An unread body is discarded first, then the connection is closed. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  last: boolean,
): Promise<void> {
  const { status, headers, body } = renderResponse(answer);
  const unread = hasBody(request) && !request.complete;
  response.writeHead(status, {
    ...(status !== 204 && { 'content-length': Buffer.byteLength(body ?? '') }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
    ...((unread || last) && { connection: 'close' }),
  });
  if (unread) {
    response.flushHeaders();
    if (body !== undefined) response.write(body);
    await discardBody(request);
    response.end();
    return;
  }
  response.end(body);
}
