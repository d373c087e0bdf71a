import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { type HttpResponse, renderResponse } from '../../shared/server/http-response.ts';

const zip = promisify(gzip);
/** Less is not worth the work. */
const leastBytes = 1_024;

/** A thousand machines are alike: compression shrinks them to a thirtieth, in a few milliseconds. */
export async function zipped(answer: HttpResponse, { headers }: IncomingMessage): Promise<HttpResponse> {
  const plain = renderResponse(answer);
  const { body } = plain;
  if (
    body === undefined ||
    body.length < leastBytes ||
    !/\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
  )
    return plain;
  return {
    status: plain.status,
    headers: { ...plain.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: await zip(body, { level: constants.Z_BEST_SPEED }),
  };
}
