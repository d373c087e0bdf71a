import { gunzipSync } from 'node:zlib';
import { consoleRoutes } from '../../apps/console/route.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';

const log = createLog({ level: 'silent', format: 'json' });
let served: RunningServer | undefined;
afterEach(() => served?.close());

async function start(...more: [load?: Parameters<typeof consoleRoutes>[1]]): Promise<string> {
  served = await serve([], {
    host: '127.0.0.1',
    port: 0,
    log,
    metrics: createMetrics(),
    routes: consoleRoutes(log, ...more),
  });
  return served.url;
}

const zipped = async (url: string): Promise<Buffer> => {
  // fetch would unpack it.
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': 'gzip' } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      expect(response.headers['content-encoding']).toBe('gzip');
      resolve(Buffer.concat(chunks));
    })
      .on('error', reject)
      .end();
  });
};

test('from source the console is bundled when it is first looked at, and small', async () => {
  const url = await start();
  const page = await fetch(`${url}/`);
  const html = await page.text();
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  expect(files).toEqual(['console/icon.svg', 'console/main.css', 'console/main.js']);
  const sizes = await Promise.all(files.map(async (file) => (await zipped(`${url}/${file}`)).length));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(5_000);
  expect(total).toBeLessThan(80_000);
  expect(gunzipSync(await zipped(`${url}/console/main.js`)).toString()).toContain('/api/stream');
});

test('the page allows its own files only, and no script or style within it', async () => {
  const url = await start();
  const page = await fetch(url);
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  const html = await page.text();
  expect(html).not.toMatch(/<style|style=|<script(?! type="module" src=)| on\w+=/);
});

test('what has not changed is not sent again', async () => {
  const load = async () => new Map([['index.html', Buffer.from('<p>hello</p>')]]);
  const url = await start(load);
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  const again = await fetch(url, { headers: { 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const missing = await fetch(`${url}/console/other.js`);
  expect([missing.status, await missing.json()]).toEqual([404, { error: 'the console has no other.js' }]);
});

test('without a bundler it says what to do, and tries again at the next look', async () => {
  let tries = 0;
  const url = await start(async () => {
    tries += 1;
    if (tries === 1) throw new Error("Cannot find package 'esbuild'");
    return new Map([['index.html', Buffer.from('here')]]);
  });
  const first = await fetch(url);
  expect(first.status).toBe(503);
  expect(await first.json()).toEqual({ error: expect.stringContaining('npm run build') });
  expect(await (await fetch(url)).text()).toBe('here');
});
