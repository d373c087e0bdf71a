import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { inputOrThrow, writeContinue } from './function-route.ts';
import { HttpError } from './http-response.ts';
import { parseInput } from './input.ts';
import { parseRequest } from './parse-request.ts';
import { type BodyLimits, readBody } from './request-body.ts';

const maxDepth = 16;

/**
 * Parses a JSON request body. The content type is required, so that a web page cannot send it cross-origin.
 */
export async function jsonBody<Value>(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  schema: z.ZodType<Value>,
  limits: BodyLimits,
): Promise<Value> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new HttpError(415, 'send JSON, with content-type: application/json', {
      allowed: ['application/json'],
    });
  const body = await readBody(request, limits, () => writeContinue(request, response));
  const received = parseRequest(request.headers, body, maxDepth);
  if (received.kind !== 'json') throw new HttpError(400, 'events are not taken here: send plain JSON');
  return inputOrThrow(parseInput({ input: schema }, received.data));
}
