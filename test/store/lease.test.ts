import { HeldLease, lossMargin } from '../../shared/adapters/store/lease.ts';
import { StoreError } from '../../shared/ports/store.ts';

const { jest } = import.meta;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const ttlMs = 3000;
const hold = (renew: () => Promise<boolean>, sentAt = performance.now()) =>
  new HeldLease(
    { name: 'machine', ttlMs, created: 7, sentAt, renew, giveBack: async () => undefined },
    () => undefined,
  );
const unavailable = async (): Promise<boolean> => {
  throw new StoreError('unavailable', 'no answer');
};

test.each([
  [10_000, 2000],
  [1000, 250],
  [300, 150],
])('with a TTL of %d ms it counts as lost %d ms before', (ttl, margin) => {
  expect(lossMargin(ttl)).toBe(margin);
});

test('without an answer it is lost before the TTL, not at once', async () => {
  const lease = hold(unavailable);
  await jest.advanceTimersByTimeAsync(ttlMs - lossMargin(ttlMs) - 1);
  expect(lease.lost.aborted).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
  expect(lease.remainingMs()).toBe(0);
});

test('with answers it lives on', async () => {
  const lease = hold(async () => true);
  await jest.advanceTimersByTimeAsync(10 * ttlMs);
  expect(lease.lost.aborted).toBe(false);
  expect(lease.remainingMs()).toBeGreaterThan(0);
  await lease.release();
});

test('a failed keep-alive is tried again in time', async () => {
  let tries = 0;
  const lease = hold(async () => (++tries < 4 ? unavailable() : true));
  await jest.advanceTimersByTimeAsync(2 * ttlMs);
  expect(tries).toBeGreaterThanOrEqual(4);
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
});

test('what counts is when the keep-alive was sent, not when it was answered', async () => {
  // Each answer takes 800 ms; counted from the answers there would be more left.
  const lease = hold(() => new Promise((resolve) => setTimeout(() => resolve(true), 800)));
  await jest.advanceTimersByTimeAsync(ttlMs / 3 + 800);
  expect(lease.remainingMs()).toBe(ttlMs - lossMargin(ttlMs) - 800);
  await lease.release();
});

test('time between the request and the grant counts as well', () => {
  const lease = hold(unavailable, performance.now() - 1000);
  expect(lease.remainingMs()).toBe(ttlMs - lossMargin(ttlMs) - 1000);
});

test('told that it is gone, it is lost at once', async () => {
  const lease = hold(async () => false);
  await jest.advanceTimersByTimeAsync(ttlMs / 3);
  expect(lease.lost.aborted).toBe(true);
});

test('after a stall it is lost before any timer runs, and is not renewed', async () => {
  let renewals = 0;
  const lease = hold(async () => ++renewals > 0);
  // Moves the clock without running timers, as a stopped process sees it.
  const stalled = performance.now() + ttlMs;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => stalled);
  expect(lease.remainingMs()).toBe(0);
  expect(lease.lost.aborted).toBe(true);
  await jest.advanceTimersByTimeAsync(ttlMs);
  expect(renewals).toBe(0);
  clock.mockRestore();
});

test('released, it has no time left, is not renewed, and an unreachable store is left to the TTL', async () => {
  let renewals = 0;
  const lease = new HeldLease(
    {
      name: 'machine',
      ttlMs,
      created: 7,
      sentAt: performance.now(),
      renew: async () => ++renewals > 0,
      giveBack: async () => void (await unavailable()),
    },
    () => undefined,
  );
  await lease.release();
  await jest.advanceTimersByTimeAsync(ttlMs);
  expect([lease.remainingMs(), lease.lost.aborted, renewals]).toEqual([0, false, 0]);
});
