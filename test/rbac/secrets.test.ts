import * as client from '@kubernetes/client-node';
import { credentialsFromSecrets } from '../../shared/adapters/credentials-kube.ts';
import type { KubeAccess } from '../../shared/adapters/kube-access.ts';

/** An API server with these Secrets, and the requests it got. */
function secretsOf(secrets: Record<string, Record<string, string>>) {
  const asked: string[] = [];
  let now = 0;
  const api = {
    async readNamespacedSecret({ namespace, name }: { namespace: string; name: string }) {
      asked.push(`${namespace}/${name}`);
      const data = secrets[name];
      if (!data) throw new client.ApiException(404, 'not found', '{}', {});
      const encoded = ([key, text]: [string, string]) => [key, Buffer.from(text).toString('base64')];
      return { data: Object.fromEntries(Object.entries(data).map(encoded)) };
    },
  };
  const access: KubeAccess = { client, namespace: 'power', api: () => api as never };
  const credentials = credentialsFromSecrets(async () => access, { monotonic: () => now });
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
