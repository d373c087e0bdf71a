import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Log } from '../../shared/process/log.ts';
import { HttpError } from '../../shared/server/http-response.ts';
import type { Route } from '../../shared/server/routes.ts';
import { type ConsoleFiles, loadConsole, typeOf } from './files.ts';

interface Served {
  readonly plain: Uint8Array;
  readonly zipped: Uint8Array;
  readonly etag: string;
}

/** Only our own files, no inline script or style, no frames. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const headers = {
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
};

/** The console's page and its files. They contain no secrets: data is requested with a token. */
export function consoleRoutes(log: Log, load: () => Promise<ConsoleFiles> = loadConsole): readonly Route[] {
  let files: Promise<ReadonlyMap<string, Served>> | undefined;
  const serve = async (name: string, known: string | undefined, accepts: string) => {
    // Made at the first look and kept; a failure is not.
    files ??= load().then(prepared);
    const found = await files.catch((error: unknown) => {
      files = undefined;
      log.warn({ err: error }, 'the console could not be made');
      throw new HttpError(
        503,
        'the console is not built: run npm run build, or npm ci with dev dependencies',
      );
    });
    const file = found.get(name);
    if (!file) throw new HttpError(404, `the console has no ${name}`);
    if (known === file.etag) return { status: 304, headers: { ...headers, etag: file.etag } };
    const zip = /\bgzip\b/.test(accepts);
    return {
      status: 200,
      headers: {
        ...headers,
        etag: file.etag,
        'content-type': typeOf(name),
        ...(zip && { 'content-encoding': 'gzip' }),
      },
      body: zip ? file.zipped : file.plain,
    };
  };
  const route = (path: string, nameIn: (url: string) => string): Route => ({
    method: 'GET',
    path,
    open: true,
    respond: ({ request }) =>
      serve(
        nameIn((request.url ?? '').split('?', 1)[0] ?? ''),
        request.headers['if-none-match'],
        String(request.headers['accept-encoding'] ?? ''),
      ),
  });
  return [route('/', () => 'index.html'), route('/console/*', (url) => url.slice('/console/'.length))];
}

async function prepared(files: ConsoleFiles): Promise<ReadonlyMap<string, Served>> {
  const entries = [...files].map(async ([name, plain]): Promise<[string, Served]> => {
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 20)}"`;
    return [name, { plain, zipped: await promisify(gzip)(plain, { level: 9 }), etag }];
  });
  return new Map(await Promise.all(entries));
}
