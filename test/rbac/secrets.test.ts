import { createKubeClient } from '../../shared/adapters/kubernetes/client.ts';
import { credentialsFromSecrets } from '../../shared/adapters/kubernetes/credentials.ts';
import type { KubeAnswer, KubeTransport } from '../../shared/adapters/kubernetes/transport.ts';

/** An API server with these Secrets, and the requests it got. */
function secretsOf(secrets: Record<string, Record<string, string>>) {
  const asked: string[] = [];
  let now = 0;
  const transport = {
    namespace: async () => 'power',
    async send({ path }): Promise<KubeAnswer> {
      const [, namespace, name = ''] = /^\/api\/v1\/namespaces\/(.+)\/secrets\/(.+)$/.exec(path) ?? [];
      asked.push(`${namespace}/${name}`);
      const data = secrets[name];
      if (!data) return { status: 404, headers: {}, text: '{}' };
      const encoded = ([key, text]: [string, string]) => [key, Buffer.from(text).toString('base64')];
      const secret = { data: Object.fromEntries(Object.entries(data).map(encoded)) };
      return { status: 200, headers: {}, text: JSON.stringify(secret) };
    },
  } as Pick<KubeTransport, 'namespace' | 'send'> as KubeTransport;
  const kube = createKubeClient(transport, { readMs: 1_000, writeMs: 1_000 });
  const credentials = credentialsFromSecrets(kube, { monotonic: () => now });
  return {
    asked,
    credentials,
    later: (ms: number) => {
      now += ms;
    },
  };
}

test('a Secret of our own namespace, key by key, without the end of line that editors add', async () => {
  const { credentials, asked } = secretsOf({ bmc: { username: 'admin', password: 'pass word \n', kg: 'é' } });
  expect(await credentials('bmc')).toEqual({ username: 'admin', password: 'pass word ', kg: 'é' });
  expect(asked).toEqual(['power/bmc']);
});

test('a sweep over many machines asks once; a rotation is seen soon', async () => {
  const secrets = { bmc: { password: 'old' } };
  const { credentials, asked, later } = secretsOf(secrets);
  await Promise.all(Array.from({ length: 50 }, () => credentials('bmc')));
  expect(asked).toHaveLength(1);
  secrets.bmc.password = 'new';
  later(5_000);
  expect(await credentials('bmc')).toEqual({ password: 'new' });
});

test('one that is missing is told with what to do, and found once it is there', async () => {
  const secrets: Record<string, Record<string, string>> = {};
  const { credentials } = secretsOf(secrets);
  await expect(credentials('bmc')).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(/no Secret power\/bmc.*make it with the keys username and password/),
  });
  secrets.bmc = { username: 'admin' };
  expect(await credentials('bmc')).toEqual({ username: 'admin' });
});
