import { createHash } from 'node:crypto';
import { z } from 'zod';
import { problemOf } from '../adapters/kubernetes/errors.ts';
import { ApiException, type KubeTransport } from '../adapters/kubernetes/transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../process/log.ts';
import { isAccount, type TokenReview } from './authenticate.ts';
import { HttpError } from './http-response.ts';
import { createRateLimit } from './rate-limit.ts';

export interface TokenReviewOptions {
  /** The audience that a token must have. */
  readonly audience: string;
  /** Accounts that may call, with an optional trailing `*`; undefined: those of our own namespace. */
  readonly callers?: readonly string[] | undefined;
  /** Accounts that may only send one type of event. */
  readonly reporters?: readonly string[] | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/**
 * A revoked token stays valid for this long. Refusals are not cached: the account may just have been created.
 */
const cacheMs = 10_000;
const maxCached = 1_000;

/** Limit for unknown tokens per address: each costs a request to the API server. */
const unknownTokenLimit = { perSecond: 5, burst: 50 };

const timeoutMs = 5_000;

const Review = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    audiences: z.array(z.string()).optional(),
    user: z.object({ username: z.string().optional() }).optional(),
  }),
});

interface CachedAccount {
  readonly account: string;
  readonly until: number;
}

/** Reviews tokens with the API server. Without a response no caller is accepted. */
export function kubeTokenReview(
  kube: Pick<KubeTransport, 'send' | 'namespace'>,
  { audience, callers, reporters = [], clock, log }: TokenReviewOptions,
): TokenReview {
  const cached = new Map<string, CachedAccount>();
  const pending = new Map<string, Promise<string | undefined>>();
  const waitOf = createRateLimit(unknownTokenLimit, () => clock.monotonic());

  const review = async (token: string): Promise<string | undefined> => {
    try {
      const { status } = await reviewOf(kube, token, audience);
      // An API server without audiences would accept any token for itself.
      const isForUs = status.authenticated === true && status.audiences?.includes(audience) === true;
      const account = isForUs ? status.user?.username : undefined;
      const acting = callers ?? [`system:serviceaccount:${(await kube.namespace()) ?? 'default'}:*`];
      return account !== undefined && [...acting, ...reporters].some((one) => isAccount(one, account))
        ? account
        : undefined;
    } catch (error) {
      log.warn({ why: problemOf(error) }, 'token review failed: callers cannot be authenticated');
      throw refusal(503, 'callers cannot be checked just now', 1);
    }
  };
  const cache = (key: string, account: string | undefined): void => {
    if (account === undefined) return;
    cached.set(key, { account, until: clock.monotonic() + cacheMs });
    const [oldest] = cached.keys();
    if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest);
  };

  return async (token, address) => {
    const key = createHash('sha256').update(token).digest('base64');
    const known = cached.get(key);
    if (known && clock.monotonic() < known.until) return known.account;
    cached.delete(key);
    const before = pending.get(key);
    if (before) return before;
    const seconds = waitOf(address);
    if (seconds !== undefined)
      throw refusal(429, `too many tokens that were not seen before: wait ${seconds} s`, seconds);
    const answer = review(token).finally(() => pending.delete(key));
    pending.set(key, answer);
    cache(key, await answer);
    return answer;
  };
}

async function reviewOf(
  kube: Pick<KubeTransport, 'send'>,
  token: string,
  audience: string,
): Promise<z.infer<typeof Review>> {
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' };
  const answer = await kube.send(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      query: {},
      body: { ...kind, spec: { token, audiences: [audience] } },
      isRead: true,
    },
    AbortSignal.timeout(timeoutMs),
  );
  if (answer.status >= 300) throw new ApiException(answer);
  return Review.parse(JSON.parse(answer.text));
}

const refusal = (status: number, why: string, seconds: number): HttpError =>
  new HttpError(status, why, { retryAfterSeconds: seconds }, { 'retry-after': String(seconds) });
