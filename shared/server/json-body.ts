import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { accepted, goAhead } from './function-route.ts';
import { HttpError } from './http-answer.ts';
import { parseInput } from './input.ts';
import { receive } from './parse-request.ts';
import { type BodyLimits, readBody } from './request-body.ts';

const deepest = 16;

/** The JSON that a request carries, as the schema has it. Nothing that a web page could send unasked. */
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
  const body = await readBody(request, limits, () => goAhead(request, response));
  const received = receive(request.headers, body, deepest);
  if (received.kind !== 'json') throw new HttpError(400, 'events are not taken here: send plain JSON');
  return accepted(parseInput({ input: schema }, received.data));
}
