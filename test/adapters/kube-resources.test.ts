import { createKubeResources } from '../../shared/adapters/kubernetes/resources.ts';
import type { KubeAnswer, KubeCall, KubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';

const log = createLog({ level: 'silent', format: 'json' });
const answer = (body: object): KubeAnswer => ({ status: 200, headers: {}, text: JSON.stringify(body) });
const ourKinds = ['baremetalautoscalers', 'nodepools', 'baremetalnodes'];

/** A cluster with our kinds and nothing of them; `discover` may say otherwise. */
function open(discover: () => Promise<KubeAnswer>) {
  const asked: string[] = [];
  const transport: KubeTransport = {
    namespace: async () => undefined,
    async send({ path }: KubeCall) {
      asked.push(path);
      if (path === '/apis/bamel.dev/v1alpha1') return discover();
      return answer({ metadata: { resourceVersion: '1' }, items: [] });
    },
    watch: () => new Promise(() => undefined),
    close: () => undefined,
  };
  return { asked, resources: createKubeResources({ transport, clock: realClock, log }) };
}
const installed = async () => answer({ resources: ourKinds.map((name) => ({ name })) });
const nothing = { autoscaler: [], pool: [], node: [] };

test('asked twice at once, the cluster is asked once, and both are told', async () => {
  const { asked, resources } = open(installed);
  expect(await Promise.all([resources.all(), resources.all()])).toEqual([nothing, nothing]);
  expect(asked).toHaveLength(1 + ourKinds.length);
  resources.close();
});

test('a cluster that did not answer is not one without our kinds: it is asked again', async () => {
  let isAway = true;
  const { resources } = open(async () => {
    if (isAway) throw new Error('away');
    return installed();
  });
  await expect(resources.all()).rejects.toMatchObject({ code: 'unavailable' });
  isAway = false;
  expect(await resources.all()).toEqual(nothing);
  resources.close();
});

test('one without our kinds is not asked all the time', async () => {
  const { asked, resources } = open(async () => answer({ resources: [] }));
  for (const _ of [1, 2, 3]) expect(await resources.all()).toBeUndefined();
  expect(asked.filter((path) => path === '/apis/bamel.dev/v1alpha1')).toHaveLength(1);
  resources.close();
});
