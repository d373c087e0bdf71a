import { writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type KubeConfigSource, loadKubeConfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { newFolder } from '../support/cleanup.ts';

let folder: string;
beforeEach(async () => {
  folder = newFolder();
});

const kubeconfig = (user: object, cluster: object = {}) => ({
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'bamel' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
  users: [{ name: 'u', user }],
});
const loginOf = async (source: KubeConfigSource): Promise<RequestOptions> => {
  const login: RequestOptions = {};
  await loadKubeConfig(source).applyToHTTPSOptions(login);
  return login;
};

test.each([
  ['YAML', stringify],
  ['JSON', (value: object) => JSON.stringify(value)],
])('a kubeconfig in %s names the server and the token', async (_name, write) => {
  const text = write(kubeconfig({ token: 'abc' }, { 'tls-server-name': 'kubernetes' }));
  expect(loadKubeConfig({ kubeconfig: text }).getCurrentCluster()?.server).toBe('https://10.0.0.1:6443');
  expect(await loginOf({ kubeconfig: text })).toMatchObject({
    servername: 'kubernetes',
    headers: { Authorization: 'Bearer abc' },
  });
});

test('files are named relative to the kubeconfig, the token file too', async () => {
  const file = join(folder, 'config');
  await writeFile(join(folder, 'ca.pem'), 'ca');
  await writeFile(join(folder, 'token'), 'first');
  await writeFile(file, stringify(kubeconfig({ tokenFile: 'token' }, { 'certificate-authority': 'ca.pem' })));
  expect(await loginOf({ kubeconfigFile: file })).toMatchObject({
    ca: Buffer.from('ca'),
    headers: { Authorization: 'Bearer first' },
  });
});

test('plain HTTP needs no insecure-skip-tls-verify', async () => {
  const text = stringify(kubeconfig({}, { server: 'http://127.0.0.1:8001' }));
  await expect(loginOf({ kubeconfig: text })).resolves.toBeDefined();
});

test('a program that logs in is run', async () => {
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' };
  const exec = {
    apiVersion: credential.apiVersion,
    command: process.execPath,
    args: ['-p', JSON.stringify(JSON.stringify({ ...credential, status: { token: 'made' } }))],
    interactiveMode: 'Never',
  };
  const login = await loginOf({ kubeconfig: stringify(kubeconfig({ exec })) });
  expect(login.headers).toEqual({ Authorization: 'Bearer made' });
});

test('a file that does not exist is reported', () => {
  expect(() => loadKubeConfig({ kubeconfigFile: join(folder, 'none') })).toThrow('ENOENT');
});
