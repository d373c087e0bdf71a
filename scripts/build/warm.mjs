// Stands beside a built function as warm.mjs: runs it once, so that Node.js keeps what it compiled in cache/.
// The build runs it, and an image's build again, whose Node.js may be another one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const folder = import.meta.dirname;
const longestMs = 120_000;

/** Imports also what is otherwise loaded when used. */
const rehearsal = `import { readdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
enableCompileCache({ directory: process.cwd() + '/cache', portable: true });
globalThis.__zod_globalConfig = { jitless: true };
const load = (path) => import(pathToFileURL(process.cwd() + path).href);
for (const file of readdirSync('chunks').filter((name) => name.endsWith('.mjs'))) await load('/chunks/' + file);
await load('/main.mjs');
`;

/** A pool with a machine that nobody touches. */
const stored = {
  '/baremetal/pools/warm/config': { v: 1, name: 'warm' },
  '/baremetal/nodes/warm/spec': {
    v: 1,
    name: 'warm',
    pool: 'warm',
    powerInterface: 'redfish',
    resources: { cpu: 1, memory: '1Gi' },
    maintenance: true,
  },
};

const base64 = (text) => Buffer.from(text).toString('base64');

/** As much of etcd and of an empty cluster as a tick asks for. */
const stage = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://stage');
  const { key = '' } = request.method === 'POST' ? await json(request) : {};
  response.writeHead(200, { 'content-type': 'application/json' });
  if (searchParams.has('watch') || pathname === '/v3/watch') return response.flushHeaders();
  const kvs = Object.entries(stored)
    .filter(([name]) => name.startsWith(Buffer.from(key, 'base64').toString()))
    .map(([name, value]) => ({
      key: base64(name),
      value: base64(JSON.stringify(value)),
      mod_revision: '1',
      create_revision: '1',
    }));
  const etcd = { header: { revision: '1' }, succeeded: true, ID: '1', result: { TTL: '10' }, kvs };
  const list = { metadata: { resourceVersion: '1' }, items: [], resources: [] };
  response.end(JSON.stringify(pathname.startsWith('/v3/') ? etcd : list));
}).listen(0, '127.0.0.1');
await once(stage, 'listening');
const address = `127.0.0.1:${stage.address().port}`;
const kubeconfig = {
  'current-context': 'warm',
  contexts: [{ name: 'warm', context: { cluster: 'warm', user: 'warm' } }],
  clusters: [{ name: 'warm', cluster: { server: `http://${address}` } }],
  users: [{ name: 'warm', user: { token: 'warm' } }],
};

const headers = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'warm',
  'ce-source': '/build',
  'ce-type': 'dev.bamel.tick.due',
};

const temporary = await mkdtemp(join(tmpdir(), 'bamel-warm-'));
await writeFile(join(temporary, 'kubeconfig'), JSON.stringify(kubeconfig));
await rm(join(folder, 'cache'), { recursive: true, force: true });
const child = spawn(process.execPath, ['--input-type=module', '-e', rehearsal], {
  cwd: folder,
  env: {
    PORT: '0',
    BAMEL_STORE: `etcd://${address}`,
    LOG_FORMAT: 'json',
    KUBECONFIG: join(temporary, 'kubeconfig'),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
  timeout: longestMs,
  killSignal: 'SIGKILL',
});
const ended = once(child, 'exit');
let said = '';
for await (const chunk of child.stdout) {
  said += chunk;
  const url = /"url":"([^"]+)"/.exec(said)?.[1];
  if (url === undefined) continue;
  // Whatever it answers: what it takes to answer is compiled.
  for (const path of ['/health/readiness', '/metrics']) await (await fetch(url + path)).text();
  await (await fetch(url, { method: 'POST', headers, body: '{}' })).text();
  child.kill('SIGTERM');
  break;
}
const [code] = await ended;
stage.close();
stage.closeAllConnections();
await rm(temporary, { recursive: true, force: true });
if (code !== 0) {
  console.error(`${folder} could not be run once (it ended with ${code}): ${said}`);
  process.exitCode = 1;
}
