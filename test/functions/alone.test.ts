import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';

const functions = fileURLToPath(new URL('../../functions', import.meta.url));

test.each([
  ['evaluate-scaling', '/api/v1/pods'],
  ['join-watcher', '/api/v1/nodes'],
  ['sync-inventory', '/apis/bamel.dev/v1alpha1'],
])('%s in a process of its own asks for %s before the first event comes', async (name, path) => {
  await using cleanup = new AsyncDisposableStack();
  const asked: string[] = [];
  const cluster = createServer((request, response) => {
    asked.push((request.url ?? '').split('?', 1)[0] ?? '');
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [], resources: [] }));
  }).listen(0, '127.0.0.1');
  await once(cluster, 'listening');
  cleanup.defer(() => {
    cluster.closeAllConnections();
    cluster.close();
  });
  const folder = await mkdtemp(join(tmpdir(), 'bamel-alone-'));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const kubeconfig = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'c', cluster: { server: `http://127.0.0.1:${(cluster.address() as AddressInfo).port}` } },
    ],
    users: [{ name: 'u', user: {} }],
  };
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  const child = spawn(process.execPath, [join(functions, name, 'main.ts')], {
    env: {
      PATH: dirname(process.execPath),
      PORT: '0',
      BAMEL_STORE: 'embedded:',
      KUBECONFIG: join(folder, 'kubeconfig'),
    },
    stdio: 'ignore',
  });
  cleanup.defer(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  await eventually(() => expect(asked).toContain(path));
});
