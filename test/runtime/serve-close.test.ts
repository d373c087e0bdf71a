import { done } from '../../shared/core/outcome.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { serve } from '../../shared/server/serve.ts';
import { memoryLog, post, recorder, until } from './harness.ts';

const options = () => ({ host: '127.0.0.1', port: 0, log: memoryLog().log, metrics: createMetrics() });

test('close finishes what is under way, tells it to stop, and accepts no more', async () => {
  const finish = Promise.withResolvers<void>();
  const { calls, served } = recorder({}, async ({ invocation }) => {
    await finish.promise;
    return done({ toldToStop: invocation.signal.aborted });
  });
  const server = await serve([served], options());
  const answer = post(server.url, '{}');
  await until(() => calls.length === 1, 'the request to reach the function');
  const closing = server.close();
  let closed = false;
  void closing.then(() => {
    closed = true;
  });
  await expect(post(server.url, '{}')).rejects.toThrow();
  expect(closed).toBe(false);
  finish.resolve();
  const { status, headers } = await answer;
  expect([status, headers.get('connection')]).toEqual([200, 'close']);
  expect(await (await answer).json()).toEqual({ toldToStop: true });
  await closing;
  expect(calls).toHaveLength(1);
});

test('close does not wait for ever', async () => {
  const { calls, served } = recorder({}, () => new Promise<never>(() => undefined));
  const { log, lines } = memoryLog();
  const server = await serve([served], { ...options(), log, timeouts: { closeMs: 50 } });
  const answer = post(server.url, '{}').catch((error: Error) => error);
  await until(() => calls.length === 1, 'the request to reach the function');
  await server.close();
  expect(await answer).toMatchObject({ message: 'fetch failed' });
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', requests: 1 }));
});

test('an idle connection does not hold it up, and closing twice is harmless', async () => {
  const server = await serve([recorder().served], options());
  expect((await post(server.url, '{}')).status).toBe(200);
  await Promise.all([server.close(), server.close()]);
  await expect(post(server.url, '{}')).rejects.toThrow();
});

test('a port in use is an error', async () => {
  const server = await serve([], options());
  await expect(serve([], { ...options(), port: server.port })).rejects.toThrow(
    /something listens there already: stop it, or choose another --port \(EADDRINUSE\)/,
  );
  await server.close();
});
