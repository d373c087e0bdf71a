import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { quickTarget } from '../../shared/adapters/kube-target.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bamel-target-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

const kubeconfig = (user: object, cluster: object = {}) => ({
  'current-context': 'here',
  contexts: [
    { name: 'there', context: { cluster: 'none', user: 'none' } },
    { name: 'here', context: { cluster: 'c', user: 'u', namespace: 'bamel' } },
  ],
  clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
  users: [{ name: 'u', user }],
});

test.each([
  ['YAML', stringify],
  ['JSON', (value: object) => JSON.stringify(value)],
])('a kubeconfig in %s: where the server is, whom it trusts, who we are', async (_name, write) => {
  const user = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key'), token: 'abc' };
  const cluster = { 'certificate-authority-data': base64('ca'), 'tls-server-name': 'kubernetes' };
  const target = quickTarget({ kubeconfig: write(kubeconfig(user, cluster)) });
  expect(target).toMatchObject({
    server: 'https://10.0.0.1:6443',
    namespace: 'bamel',
    tls: {
      ca: Buffer.from('ca'),
      cert: Buffer.from('cert'),
      key: Buffer.from('key'),
      servername: 'kubernetes',
    },
  });
  expect(target?.token()).toBe('abc');
});

test('files stand beside the kubeconfig; a token is read anew, as it is renewed', async () => {
  const file = join(folder, 'config');
  await writeFile(join(folder, 'ca.pem'), 'ca');
  await writeFile(join(folder, 'token'), 'first\n');
  await writeFile(file, stringify(kubeconfig({ tokenFile: 'token' }, { 'certificate-authority': 'ca.pem' })));
  const target = quickTarget({ kubeconfigFile: file });
  expect(target?.tls).toEqual({ ca: Buffer.from('ca') });
  expect(target?.token()).toBe('first');
  await writeFile(join(folder, 'token'), 'second');
  expect(target?.token()).toBe('second');
});

test.each([
  ['a program that logs in', { exec: { command: 'aws' } }, {}],
  ['a name and a password', { username: 'a', password: 'b' }, {}],
  ['a proxy', {}, { 'proxy-url': 'http://proxy' }],
])('%s is for client-node', async (_name, user, cluster) => {
  expect(quickTarget({ kubeconfig: stringify(kubeconfig(user, cluster)) })).toBeUndefined();
});

test('so is a file that is not there, which it tells about', async () => {
  expect(quickTarget({ kubeconfigFile: join(folder, 'none') })).toBeUndefined();
});

test('in a pod: its own account, unless there is a kubeconfig at home', async () => {
  for (const [name, text] of Object.entries({ token: 't\n', 'ca.crt': 'ca', namespace: 'bamel\n' }))
    await writeFile(join(folder, name), text);
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const where = { env, account: folder, home: join(folder, 'nobody') };
  const target = quickTarget({}, where);
  expect(target).toMatchObject({
    server: 'https://[fd00::1]:443',
    namespace: 'bamel',
    tls: { ca: Buffer.from('ca') },
  });
  expect(target?.token()).toBe('t');
  expect(quickTarget({}, { ...where, env: {} })).toBeUndefined();
});
