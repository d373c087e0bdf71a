import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { events } from '../../shared/ports/event-types.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { eventHeaders, post } from '../runtime/harness.ts';
import { newFolder } from '../support/cleanup.ts';

const program = fileURLToPath(new URL('../../apps/function.ts', import.meta.url));
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const pathOf = (request: IncomingMessage): string => (request.url ?? '').split('?', 1)[0] ?? '';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

/**
 * An empty cluster that lets everybody in, and the paths of the requests it got; with `isSlow` it answers nothing before
 * it was asked who a caller is.
 */
async function startCluster({ isSlow = false } = {}) {
  const asked = new Set<string>();
  const status = {
    authenticated: true,
    audiences: ['bamel'],
    user: { username: 'system:serviceaccount:default:trigger' },
  };
  const wasReviewed = Promise.withResolvers<void>();
  if (!isSlow) wasReviewed.resolve();
  const server = createServer(async (request, response) => {
    asked.add(pathOf(request));
    if (pathOf(request) === reviews) wasReviewed.resolve();
    await wasReviewed.promise;
    const list = { metadata: { resourceVersion: '1' }, items: [], resources: [] };
    response.end(JSON.stringify(pathOf(request) === reviews ? { status } : list));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The function in a process of its own, with an empty store; where it listens. */
async function startAlone(name: string, cluster: string, env: Record<string, string> = {}): Promise<string> {
  const folder = newFolder();
  const kubeconfig = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: cluster } }],
    users: [{ name: 'u', user: {} }],
  };
  await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
  const child = spawn(process.execPath, [program, ...(name ? [name] : [])], {
    env: {
      PATH: dirname(process.execPath),
      PORT: '0',
      BAMEL_STORE: 'embedded:',
      KUBECONFIG: join(folder, 'kubeconfig'),
      LOG_FORMAT: 'json',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanup.defer(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  for await (const line of createInterface(child.stdout)) {
    const url = /"url":"([^"]+)"/.exec(line)?.[1];
    if (url) return url;
  }
  throw new Error(`${name} ended before it listened`);
}

test.each([
  ['evaluate-scaling', '/api/v1/pods'],
  ['join-watcher', '/api/v1/nodes'],
  ['sync-inventory', '/apis/bamel.dev/v1alpha1'],
])('%s in a process of its own asks for %s before the first event comes', async (name, path) => {
  const { asked, url } = await startCluster();
  await startAlone(name, url);
  await eventually(() => expect([...asked]).toContain(path));
});

test('a caller is reviewed while the cluster is still being listed', async () => {
  const { asked, url } = await startCluster({ isSlow: true });
  const own = await startAlone('join-watcher', url, { BAMEL_TOKEN_AUDIENCE: 'bamel' });
  const headers = { ...eventHeaders({ 'ce-type': events.tick }), authorization: 'Bearer good' };
  expect((await post(own, '{}', headers)).status).toBe(204);
  expect([...asked]).toContain(reviews);
});

test.each([
  [['evaluate'], 'there is no function evaluate; there are: evaluate-scaling, '],
  [[], 'which function? Name it as the first argument or in BAMEL_FUNCTION; there are: evaluate-scaling, '],
])('without the name of a function (%j) the process ends with the names there are', async (args, message) => {
  const child = spawn(process.execPath, [program, ...args], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(said).toContain(message);
  expect(code).toBe(2);
});

test('BAMEL_FUNCTION names the function where no argument does', async () => {
  const { url } = await startCluster();
  const own = await startAlone('', url, { BAMEL_FUNCTION: 'dead-letters' });
  expect((await fetch(`${own}/dead-letters`, { method: 'POST', body: '{}' })).status).not.toBe(404);
});
