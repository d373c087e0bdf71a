import type { KubernetesListObject, V1Pod } from '@kubernetes/client-node';
import { createCache } from '../../shared/adapters/kubernetes/cache.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { createLog } from '../../shared/process/log.ts';

/** A server whose list has pages that each take so many seconds, by a clock that nothing else moves. */
function slowList(pages: number, secondsEach: number) {
  let now = 0;
  const soon = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: soon };
  return createCache<V1Pod, string>({
    kube: { watch: async () => new AbortController() },
    path: '/api/v1/pods',
    async list(page): Promise<KubernetesListObject<V1Pod>> {
      const at = Number(page ?? 0);
      now += secondsEach * 1000;
      for (let turns = 0; turns < 5; turns += 1) await soon();
      const next = at + 1 < pages ? { _continue: String(at + 1) } : {};
      return {
        items: [{ metadata: { name: `p${at}`, uid: `u${at}` } }],
        metadata: { resourceVersion: '1', ...next },
      };
    },
    keep: ({ metadata }) => metadata?.name ?? '',
    onChange: () => undefined,
    clock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
}

test('a list that takes long is waited for while its pages keep coming', async () => {
  const cache = slowList(6, 4);
  expect(await cache.all()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5']);
  cache.close();
});

test('a server that lets us wait for a page is not', async () => {
  const cache = slowList(6, 11);
  await expect(cache.all()).rejects.toThrow(/has not answered for 11 s/);
  cache.close();
});
