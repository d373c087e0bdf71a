// Stands beside a built function as warm.mjs: runs it once, so that Node.js keeps what it compiled in cache/.
// The build runs it, and an image's build again, whose Node.js may be another one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const folder = import.meta.dirname;
const longestMs = 120_000;

/** Imports also what is otherwise loaded when used. */
const rehearsal = `import { readdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
enableCompileCache({ directory: process.cwd() + '/cache', portable: true });
const load = (path) => import(pathToFileURL(process.cwd() + path).href);
for (const file of readdirSync('chunks').filter((name) => name.endsWith('.mjs'))) await load('/chunks/' + file);
await load('/main.mjs');
`;

const headers = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'warm',
  'ce-source': '/build',
  'ce-type': 'dev.bamel.tick.due',
};

await rm(join(folder, 'cache'), { recursive: true, force: true });
const child = spawn(process.execPath, ['--input-type=module', '-e', rehearsal], {
  cwd: folder,
  env: { PORT: '0', BAMEL_STORE: 'embedded:', LOG_FORMAT: 'json', KUBECONFIG: '/nonexistent' },
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
  // Whatever it answers, without a cluster: what it takes to answer is compiled.
  for (const path of ['/health/readiness', '/metrics']) await (await fetch(url + path)).text();
  await (await fetch(url, { method: 'POST', headers, body: '{}' })).text();
  child.kill('SIGTERM');
  break;
}
const [code] = await ended;
if (code !== 0) {
  console.error(`${folder} could not be run once (it ended with ${code}): ${said}`);
  process.exitCode = 1;
}
