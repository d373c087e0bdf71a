import type { IncomingMessage } from 'node:http';
import type { Log } from '../process/log.ts';
import { type CallerOptions, createAuthenticator, isLoopback } from './authenticate.ts';
import { HttpError } from './http-response.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import type { May } from './routes.ts';

export interface AuthorizeOptions extends CallerOptions {
  /** Rate limit per caller; unlimited by default. */
  readonly rateLimit?: RateLimit | undefined;
  readonly log: Log;
}

/** Returns what the request may do, or throws the HttpError to respond with. */
export type Authorizer = (request: IncomingMessage) => Promise<May>;

export async function createAuthorizer(options: AuthorizeOptions): Promise<Authorizer> {
  const { host, token, review, certificates, insecure, rateLimit, log } = options;
  const check = await createAuthenticator(options);
  if (insecure && !isLoopback(host) && !token && !review && !certificates)
    log.warn({ host }, 'insecure: every client that reaches this address can power machines on and off');
  const waitOf = rateLimit && createRateLimit(rateLimit);
  return async (request) => {
    const { name, may } = await check(request);
    const seconds = waitOf?.(name);
    if (seconds !== undefined)
      throw new HttpError(
        429,
        `more than ${rateLimit?.perSecond} requests a second: wait ${seconds} s, or set BAMEL_RATE_LIMIT`,
        { retryAfterSeconds: seconds },
        { 'retry-after': String(seconds) },
      );
    if (may === 'read' && request.method !== 'GET' && request.method !== 'HEAD')
      throw new HttpError(403, 'this token is read-only: to act, send the one of BAMEL_TOKEN_FILE');
    return may;
  };
}
