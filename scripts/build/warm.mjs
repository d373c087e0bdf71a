// Stands beside a built function as warm.mjs and makes it ready to start quickly: runs it once, so that Node.js keeps
// what it compiled in cache/, and makes the executable that images start. The build runs it, and an image's build again,
// whose Node.js may be another one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import stage from './stage.cjs';

const folder = import.meta.dirname;
const longestMs = 120_000;

/**
 * A process lives for an event or for minutes. Regular expressions are compiled by every process anew, and most of
 * them used once; nor is there time for the first compiler of functions, or to collect garbage. The same flags when
 * the snapshot is made, or Node.js does not use what it compiled then.
 */
const flags = ['--no-regexp-optimization', '--no-sparkplug', '--min-semi-space-size=16'];

/** This Node.js with the snapshot in it: from a file of its own it would be read, and copied twice, at every start. */
const executable = {
  main: 'snapshot.cjs',
  output: 'function',
  useSnapshot: true,
  // As many threads as the cpus are good for, rather than four.
  execArgv: [...flags, '--v8-pool-size=0'],
  disableExperimentalSEAWarning: true,
};

/** Loads also what is otherwise loaded when used. */
const rehearsal = `import { existsSync, readdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
enableCompileCache({ directory: process.cwd() + '/cache', portable: true });
process.argv[1] = process.cwd() + '/index.mjs';
globalThis.__zod_globalConfig = { jitless: true };
for (const folder of ['chunks', 'later'].filter((name) => existsSync(name)))
  for (const file of readdirSync(folder).filter((name) => /\\.[cm]js$/.test(name)))
    await import(pathToFileURL(process.cwd() + '/' + folder + '/' + file).href);
await import(pathToFileURL(process.argv[1]).href);
`;

const server = createServer(async (request, response) => {
  const answer = stage.answerTo(request.url, await text(request));
  response.writeHead(200, { 'content-type': 'application/json' });
  if (answer === undefined) response.flushHeaders();
  else response.end(answer);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `127.0.0.1:${server.address().port}`;
const temporary = await mkdtemp(join(tmpdir(), 'bamel-warm-'));
const KUBECONFIG = join(temporary, 'kubeconfig');
await writeFile(KUBECONFIG, stage.kubeconfig(`http://${address}`));

/** One Node.js with the function and the stage; `act` hears what it says. */
async function run(args, act) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      PORT: '0',
      BAMEL_STORE: `etcd://${address}`,
      LOG_FORMAT: 'json',
      KUBECONFIG,
      BAMEL_CONFIG: 'resources:',
      BAMEL_TOKEN_AUDIENCE: stage.audience,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMs,
    killSignal: 'SIGKILL',
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
      act?.(said, child);
    });
  const [code] = await once(child, 'close');
  if (code === 0) return;
  console.error(`${folder} could not be made ready (it ended with ${code}): ${said}`);
  process.exitCode = 1;
}

let isAsked = false;
async function ask(said, child) {
  const url = /"url":"([^"]+)"/.exec(said)?.[1];
  if (url === undefined || isAsked) return;
  isAsked = true;
  // Whatever it answers: what it takes to answer is compiled.
  for (const path of ['/health/readiness', '/metrics']) await (await fetch(url + path)).text();
  await (await fetch(url, stage.event)).text();
  child.kill('SIGTERM');
}

// In an image only what is in the folder may be changed, not the folder.
const cache = join(folder, 'cache');
await mkdir(cache, { recursive: true });
for (const name of await readdir(cache)) await rm(join(cache, name), { recursive: true });
await run(['--input-type=module', '-e', rehearsal], ask);
if (existsSync(join(folder, 'snapshot.cjs'))) {
  const described = join(temporary, 'executable.json');
  await writeFile(described, JSON.stringify(executable));
  await run([...flags, '--disable-warning=Warning', '--build-sea', described]);
}
server.close();
server.closeAllConnections();
await rm(temporary, { recursive: true, force: true });
