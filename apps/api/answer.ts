import { z } from 'zod';
import { HttpError, type HttpResponse } from '../../shared/server/http-response.ts';
import type { May, Route } from '../../shared/server/routes.ts';
import type { ApiDeps, ApiRow } from '../../shared/view/row.ts';
import { rows } from '../../shared/view/rows.ts';
import { describeApi } from './openapi.ts';
import { streamRoute } from './stream.ts';
import { zipped } from './zipped.ts';

const Page = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  after: z.coerce.number().int().min(0).default(0),
});

/** The API, its description and its stream of changes. */
export function apiRoutes(deps: ApiDeps): Route[] {
  // Revisions of a store in memory restart with every process.
  const era = deps.now().toString(36);
  return [
    streamRoute(deps.view, deps.surroundings),
    {
      method: 'GET',
      path: '/api/*',
      async respond({ request, may }) {
        const url = new URL(request.url ?? '/', 'http://api');
        await deps.surroundings.refresh();
        return zipped(
          await answer(deps, {
            era,
            path: decoded(url.pathname),
            query: url.searchParams,
            known: request.headers['if-none-match'],
            may,
          }),
          request,
        );
      },
    },
    {
      method: 'GET',
      path: '/openapi.json',
      open: true,
      respond: async () => ({ status: 200, json: describeApi(rows) }),
    },
  ];
}

interface Question {
  readonly era: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly known: string | undefined;
  readonly may: May;
}

async function answer(deps: ApiDeps, { era, path, query, known, may }: Question): Promise<HttpResponse> {
  const row = rows.map((one) => ({ one, name: nameIn(one, path) })).find(({ name }) => name !== undefined);
  if (!row) throw new HttpError(404, `nothing is at ${path}`, { paths: rows.map((one) => one.path) });
  const { view, surroundings } = deps;
  const page = Page.safeParse(Object.fromEntries(query));
  if (!page.success)
    throw new HttpError(
      400,
      page.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const etag = `"${era}-${view.revision}-${surroundings.version}-${may}-${query}"`;
  const headers = { etag, 'cache-control': 'no-cache' };
  if (known === etag && !row.one.volatile) return { status: 304, headers };
  const result = await row.one.answer({ ...deps, use: surroundings.use(), name: row.name ?? '', query, may });
  if (!row.one.list) return { status: 200, headers, json: result };
  const items = result as unknown[];
  const { after, limit } = page.data;
  const next = after + limit < items.length ? after + limit : undefined;
  return {
    status: 200,
    headers,
    json: { items: items.slice(after, after + limit), total: items.length, next, revision: view.revision },
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HttpError(400, `${path} is not a path: % must be followed by two hex digits of UTF-8`);
  }
}

/** What stands for {name}; '' where the path has none; undefined when it is another path. */
function nameIn({ path: pattern, slashInName }: ApiRow, path: string): string | undefined {
  if (!pattern.endsWith('/{name}')) return pattern === path ? '' : undefined;
  const prefix = pattern.slice(0, -'{name}'.length);
  const rest = path.slice(prefix.length);
  return path.startsWith(prefix) && rest !== '' && (slashInName || !rest.includes('/')) ? rest : undefined;
}
