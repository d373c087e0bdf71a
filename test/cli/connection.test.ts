import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/cli.ts';
import { newFolder } from '../support/cleanup.ts';

/** A host that knows one token, has three machines, and gives two at a time. */
let server: Server;
let url: string;
const folder = newFolder();
const asked: string[] = [];
beforeAll(async () => {
  await writeFile(join(folder, 'token'), 'secret\n');
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== 'Bearer secret') return answer(401, { error: 'a token is needed' });
    if (request.method === 'POST') return answer(422, { error: 'it is the last one that serves' });
    const after = Number(new URL(request.url ?? '', 'http://host').searchParams.get('after'));
    if (!request.url?.startsWith('/api/decisions')) return answer(200, { nothing: 'known' });
    const items = ['d-3', 'd-2', 'd-1'].map((id, at) => ({
      id,
      at,
      summary: 'nothing',
      powerOn: [],
      drain: [],
      intents: 0,
      unmet: 0,
    }));
    return answer(200, { items: items.slice(after, after + 2), ...(after === 0 && { next: 2 }) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function run(env: Record<string, string>, ...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCli(args, { stdout, stderr, env: { BAMEL_URL: url, ...env } });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}
const withToken = () => ({ BAMEL_TOKEN_FILE: join(folder, 'token') });

test('all pages are asked for, with the token, whether it is named by a flag or not', async () => {
  asked.length = 0;
  const all = 'decision/d-3\ndecision/d-2\ndecision/d-1\n';
  expect(await run(withToken(), 'get', 'd', '-o', 'name')).toEqual({ code: 0, stdout: all, stderr: '' });
  expect(asked).toEqual(['GET /api/decisions?limit=1000&after=0', 'GET /api/decisions?limit=1000&after=2']);
  expect(await run({}, 'get', 'd', '-o', 'name', '--token-file', join(folder, 'token'))).toMatchObject({
    stdout: all,
  });
});

test('without a token, or with the wrong one, it is said what to do', async () => {
  expect(await run({}, 'get', 'd')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/requires a token: set BAMEL_TOKEN_FILE or give --token-file/),
  });
  await writeFile(join(folder, 'wrong'), 'other');
  expect(await run({ BAMEL_TOKEN_FILE: join(folder, 'wrong') }, 'drain', 'm-1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('requires another token'),
  });
  expect(await run({ BAMEL_TOKEN_FILE: join(folder, 'none') }, 'get', 'd')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no such file'),
  });
});

test('what the host refuses is told in its words', async () => {
  expect(await run(withToken(), 'drain', 'm-1')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'bamel drain: it is the last one that serves\n',
  });
});

test('somebody else at that address is no host', async () => {
  expect(await run(withToken(), 'get', 'machines')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is no host of bamel'),
  });
});
