// Fills cache/ with compiled code. The build runs this, and an image's build again, because code that another version of
// Node.js compiled is not used. Of a file only what ran in the first process that loaded it is kept, so the demo comes
// first: it plays all functions. Then one function loads what the demo has not, etcd3 above all; no etcd is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const demoMs = 12_000;
const event = {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/warm',
    'ce-type': 'dev.bamel.tick.due',
  },
  body: '{}',
};

/** Runs a program until it listens, lets `act` use it, and stops it. */
async function run(args, env, act) {
  const child = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    env: { PORT: '0', LOG_FORMAT: 'json', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 120_000,
  });
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout);
  const listening = Promise.withResolvers();
  lines.on('line', (line) => {
    const url = /"url":"([^"]+)"/.exec(line)?.[1];
    if (url) listening.resolve(url);
  });
  const url = await Promise.race([listening.promise, ended.then(() => undefined)]);
  if (url !== undefined) await act(url);
  child.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

await run(['host.mjs', '--speed', '100'], {}, async (url) => {
  await sleep(demoMs);
  // Whatever it answers: the code for events and metrics has run.
  for (const name of ['evaluate-scaling', 'dead-letters'])
    await (await fetch(`${url}/${name}`, event)).text();
  await (await fetch(`${url}/metrics`)).text();
});
const noEtcd = { BAMEL_STORE: 'etcd://127.0.0.1:1', BAMEL_CONFIG: 'resources:' };
await run(['function.mjs', 'sync-inventory'], noEtcd, async (url) => {
  await (await fetch(url, event)).text();
});
