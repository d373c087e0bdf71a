import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, rendered } from './http-answer.ts';
import { drain, hasBody } from './request-body.ts';

/** Writes the answer. A body that was not read to its end is read politely first, then the connection closed. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  last: boolean,
): Promise<void> {
  const { status, headers, body } = rendered(answer);
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
    await drain(request);
    response.end();
    return;
  }
  response.end(body);
}
