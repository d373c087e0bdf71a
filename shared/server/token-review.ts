import { createHash } from 'node:crypto';
import { z } from 'zod';
import { problemOf } from '../adapters/kubernetes/errors.ts';
import { ApiException, type KubeTransport } from '../adapters/kubernetes/transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../process/log.ts';
import { isAccount, type TokenReview } from './authenticate.ts';
import { HttpError } from './http-answer.ts';
import { createRateLimit } from './rate-limit.ts';

export interface TokenReviewOptions {
  /** Who a token must be made out for. */
  readonly audience: string;
  /** Accounts that may call, a `*` at the end for all that begin so; undefined: those of our own namespace. */
  readonly callers?: readonly string[] | undefined;
  /** Others, who may only tell of one thing. */
  readonly tellers?: readonly string[] | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** A token that was taken back is good for so long. Refusals are not kept: an account may just have been made. */
const keptMs = 10_000;
const mostKept = 1_000;

/** Unknown tokens from one address: each costs the API server a look. */
const strangers = { perSecond: 5, burst: 50 };

const answerMs = 5_000;

const Review = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    audiences: z.array(z.string()).optional(),
    user: z.object({ username: z.string().optional() }).optional(),
  }),
});

interface Kept {
  readonly account: string;
  readonly until: number;
}

/** Asks the API server whose token it is. Without an answer nobody is let in. */
export function kubeTokenReview(
  kube: Pick<KubeTransport, 'send' | 'namespace'>,
  { audience, callers, tellers = [], clock, log }: TokenReviewOptions,
): TokenReview {
  const kept = new Map<string, Kept>();
  const asking = new Map<string, Promise<string | undefined>>();
  const waitOf = createRateLimit(strangers, () => clock.monotonic());

  const ask = async (token: string): Promise<string | undefined> => {
    try {
      const { status } = await reviewOf(kube, token, audience);
      // A server that knows no audiences would let in any token that is good for itself.
      const isForUs = status.authenticated === true && status.audiences?.includes(audience) === true;
      const account = isForUs ? status.user?.username : undefined;
      const acting = callers ?? [`system:serviceaccount:${(await kube.namespace()) ?? 'default'}:*`];
      return account !== undefined && [...acting, ...tellers].some((one) => isAccount(one, account))
        ? account
        : undefined;
    } catch (error) {
      log.warn({ why: problemOf(error) }, 'callers cannot be checked: the API server reviews no tokens');
      throw refusal(503, 'callers cannot be checked just now', 1);
    }
  };
  const keep = (key: string, account: string | undefined): void => {
    if (account === undefined) return;
    kept.set(key, { account, until: clock.monotonic() + keptMs });
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  };

  return async (token, address) => {
    const key = createHash('sha256').update(token).digest('base64');
    const known = kept.get(key);
    if (known && clock.monotonic() < known.until) return known.account;
    kept.delete(key);
    const before = asking.get(key);
    if (before) return before;
    const seconds = waitOf(address);
    if (seconds !== undefined)
      throw refusal(429, `too many tokens that were not seen before: wait ${seconds} s`, seconds);
    const answer = ask(token).finally(() => asking.delete(key));
    asking.set(key, answer);
    keep(key, await answer);
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
    AbortSignal.timeout(answerMs),
  );
  if (answer.status >= 300) throw new ApiException(answer);
  return Review.parse(JSON.parse(answer.text));
}

const refusal = (status: number, why: string, seconds: number): HttpError =>
  new HttpError(status, why, { retryAfterSeconds: seconds }, { 'retry-after': String(seconds) });
