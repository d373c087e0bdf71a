import type { IncomingHttpHeaders } from 'node:http';
import { attributesFromHeaders, type ReceivedEvent, toEvent } from './cloud-event.ts';
import { HttpError } from './http-response.ts';
import { parseJson } from './json-text.ts';

export type ParsedRequest =
  | { readonly kind: 'json'; readonly data: unknown }
  | { readonly kind: 'events'; readonly events: readonly ReceivedEvent[] };

const maxBatch = 1_000;

/** Parses a request: CloudEvents in one of their three modes, or plain JSON. */
export function parseRequest(headers: IncomingHttpHeaders, body: Buffer, maxDepth: number): ParsedRequest {
  const contentType = readContentType(headers);
  const json = () => parseJson(decode(body), maxDepth);
  if (contentType === 'application/cloudevents+json') return { kind: 'events', events: [toEvent(json())] };
  if (contentType === 'application/cloudevents-batch+json')
    return { kind: 'events', events: toBatch(json()) };
  const isJson = contentType === 'application/json' || contentType === '' || contentType.endsWith('+json');
  if (isBinaryEvent(headers)) {
    // Foreign events may have data of any type; only JSON is read.
    const data = isJson && body.length > 0 ? { data: json() } : {};
    return { kind: 'events', events: [toEvent({ ...attributesFromHeaders(headers), ...data })] };
  }
  // The form type is the default of curl -d.
  if (!isJson && contentType !== 'application/x-www-form-urlencoded' && body.length > 0)
    throw new HttpError(415, `content type ${contentType} is not understood`, {
      allowed: ['application/json', 'application/cloudevents+json', 'application/cloudevents-batch+json'],
    });
  return { kind: 'json', data: body.length > 0 ? json() : {} };
}

function readContentType(headers: IncomingHttpHeaders): string {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset="?([^"]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  if (charset && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii')
    throw new HttpError(415, `charset ${charset} is not understood: send UTF-8`);
  const encoding = headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw new HttpError(415, `content encoding ${encoding} is not understood: send it uncompressed`);
  return type.trim();
}

function isBinaryEvent(headers: IncomingHttpHeaders): boolean {
  return ['ce-specversion', 'ce-type', 'ce-id', 'ce-source'].some((name) => headers[name] !== undefined);
}

function toBatch(from: unknown): ReceivedEvent[] {
  if (!Array.isArray(from)) throw new HttpError(400, 'a batch of CloudEvents is a JSON array');
  if (from.length > maxBatch)
    throw new HttpError(400, `a batch holds at most ${maxBatch} CloudEvents, this one ${from.length}`);
  return from.map((event) => toEvent(event));
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new HttpError(400, 'the body is not valid UTF-8');
  }
}
