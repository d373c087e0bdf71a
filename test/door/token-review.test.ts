import type { V1TokenReviewStatus } from '@kubernetes/client-node';
import type { KubeCall, KubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { kubeTokenReview, type TokenReviewOptions } from '../../shared/server/token-review.ts';
import { memoryLog } from '../runtime/harness.ts';

const account = 'system:serviceaccount:bamel:events';
const fine: V1TokenReviewStatus = {
  authenticated: true,
  audiences: ['bamel'],
  user: { username: account },
};

/** An API server that says what it is told to, and keeps what it was asked. */
function world(answer: () => V1TokenReviewStatus, more: Partial<TokenReviewOptions> = {}) {
  const asked: unknown[] = [];
  let ms = 0;
  const kube: Pick<KubeTransport, 'namespace' | 'send'> = {
    namespace: async () => 'bamel',
    async send({ body }: KubeCall) {
      asked.push((body as { spec: unknown }).spec);
      return { status: 201, headers: {}, text: JSON.stringify({ status: answer() }) };
    },
  };
  const { log, lines } = memoryLog();
  const review = kubeTokenReview(kube, {
    audience: 'bamel',
    clock: { monotonic: () => ms },
    log,
    ...more,
  });
  return {
    asked,
    lines,
    review: (token = 'a', address = '192.0.2.1') => review(token, address),
    pass: (by: number) => {
      ms += by;
    },
  };
}
const status = (error: unknown) => (error as { answer: { status: number } }).answer.status;

test('the API server is asked for our audience', async () => {
  const { review, asked } = world(() => fine);
  expect(await review('secret')).toBe(account);
  expect(asked).toEqual([{ token: 'secret', audiences: ['bamel'] }]);
});

describe('fault 39: who is not let in', () => {
  test.each<[string, V1TokenReviewStatus, Partial<TokenReviewOptions>]>([
    ['not authenticated', { authenticated: false, error: 'expired' }, {}],
    ['good for another audience', { ...fine, audiences: ['https://kubernetes.default.svc'] }, {}],
    ['of a server that knows no audiences', { authenticated: true, user: { username: account } }, {}],
    ['of another namespace', { ...fine, user: { username: 'system:serviceaccount:other:events' } }, {}],
    [
      'of a namespace that begins alike',
      { ...fine, user: { username: 'system:serviceaccount:bamel2:x' } },
      {},
    ],
    ['not among the callers', fine, { callers: ['system:serviceaccount:bamel:event'] }],
    ['nobody', { ...fine, user: {} }, {}],
  ])('%s', async (_name, answer, more) => {
    expect(await world(() => answer, more).review()).toBeUndefined();
  });

  test.each([[[account]], [['system:serviceaccount:bamel:*']], [['other', 'system:*']]])(
    'but %j is',
    async (callers) => {
      expect(await world(() => fine, { callers }).review()).toBe(account);
    },
  );
});

test('a yes is kept for seconds, by token; a no is not', async () => {
  let answer: V1TokenReviewStatus = { authenticated: false };
  const { review, asked, pass } = world(() => answer);
  expect(await review()).toBeUndefined();
  answer = fine;
  expect(await review()).toBe(account);
  answer = { authenticated: false };
  expect(await review()).toBe(account);
  expect(await review('b')).toBeUndefined();
  expect(asked).toHaveLength(3);
  pass(10_001);
  expect(await review()).toBeUndefined();
});

test('many with one token at once are one question', async () => {
  const { review, asked } = world(() => fine);
  const answers = await Promise.all(Array.from({ length: 30 }, () => review()));
  expect(new Set(answers)).toEqual(new Set([account]));
  expect(asked).toHaveLength(1);
});

test('an API server that is away is no yes: 503, and what it said stays in the log', async () => {
  let away = true;
  const { review, lines, pass } = world(() => {
    if (away) throw new Error('connect ECONNREFUSED 192.0.2.9:6443');
    return fine;
  });
  const refused = await review().catch((error: unknown) => error);
  expect(status(refused)).toBe(503);
  expect(JSON.stringify(refused)).not.toContain('192.0.2.9');
  expect(JSON.stringify(lines)).toContain('192.0.2.9');
  away = false;
  expect(await review()).toBe(account);
  away = true;
  // Known already, for as long as that lasts.
  expect(await review()).toBe(account);
  pass(10_001);
  expect(status(await review().catch((error: unknown) => error))).toBe(503);
});

test('a flood of tokens from one address does not reach the API server; who is known gets through', async () => {
  const { review, asked } = world(() => fine);
  await review('known');
  const flood = await Promise.allSettled(
    Array.from({ length: 500 }, (_, index) => review(`made-up-${index}`)),
  );
  const refused = flood.filter((one) => one.status === 'rejected');
  expect(asked.length).toBeLessThanOrEqual(51);
  expect(refused.length).toBeGreaterThan(400);
  for (const { reason } of refused) expect(status(reason)).toBe(429);
  expect(await review('known')).toBe(account);
  expect(await review('new', '192.0.2.2')).toBe(account);
});
