import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { waitingPods } from '../../shared/core/snapshot.ts';
import { type Answer, HttpError } from '../../shared/runtime/http-answer.ts';
import type { Route } from '../../shared/runtime/routes.ts';
import { describeApi } from './openapi.ts';
import {
  decisionSummary,
  decisionView,
  historyView,
  machineDetail,
  machineView,
  operationView,
  podView,
  poolView,
  type Use,
} from './project.ts';
import {
  AboutShape,
  DecisionShape,
  DecisionSummaryShape,
  EnergyShape,
  type EnergyView,
  HistoryShape,
  MachineDetailShape,
  MachineShape,
  OperationShape,
  PodShape,
  PoolShape,
  PressureShape,
  type PressureView,
} from './shapes.ts';
import { streamRoute } from './stream.ts';
import type { Surroundings } from './surroundings.ts';
import type { View } from './view.ts';
import { zipped } from './zipped.ts';

export interface ApiDeps {
  readonly view: View;
  readonly surroundings: Surroundings;
  now(): number;
  energy(): Promise<EnergyView>;
  pressure(): Promise<readonly PressureView[]>;
}

interface Asked extends ApiDeps {
  readonly use: Use;
  readonly name: string;
}

/** One thing that can be asked for. `list` answers come in pages. */
export interface ApiRow {
  readonly path: string;
  readonly summary: string;
  readonly shape: z.ZodType;
  readonly list?: boolean;
  /** Another one at every look, whatever the store says. */
  readonly volatile?: boolean;
  answer(asked: Asked): unknown | Promise<unknown>;
}

const found = <Item>(item: Item | undefined, what: string): Item => {
  if (item !== undefined) return item;
  throw new HttpError(404, `there is no ${what}`);
};

/** Everything that can be read. The OpenAPI document is made from this table. */
export const rows: readonly ApiRow[] = [
  {
    path: '/api/machines',
    summary: 'every machine, by name',
    shape: MachineShape,
    list: true,
    answer: ({ view, use }) => view.machines().map((record) => machineView(record, use)),
  },
  {
    path: '/api/machines/{name}',
    summary: 'one machine with its history and operations',
    shape: MachineDetailShape,
    answer: ({ view, use, name }) => {
      const record = view.machines().find(({ spec }) => spec.name === name);
      return machineDetail(found(record, `machine called ${name}`), use, view.operations());
    },
  },
  {
    path: '/api/pools',
    summary: 'every pool, by name',
    shape: PoolShape,
    list: true,
    answer: ({ view, use }) => view.pools().map((pool) => poolView(pool, view.machines(), use)),
  },
  {
    path: '/api/decisions',
    summary: 'decisions, the latest first',
    shape: DecisionSummaryShape,
    list: true,
    answer: ({ view }) => view.decisions().map(decisionSummary).reverse(),
  },
  {
    path: '/api/decisions/{name}',
    summary: 'one decision: what it saw, chose and rejected, and why',
    shape: DecisionShape,
    answer: ({ view, name }) =>
      decisionView(
        found(
          name === 'latest' ? view.decisions().at(-1) : view.decisions().find(({ id }) => id === name),
          `decision ${name}: only the last 200 are kept`,
        ),
      ),
  },
  {
    path: '/api/operations',
    summary: 'operations, the latest first',
    shape: OperationShape,
    list: true,
    answer: ({ view }) => view.operations().map(operationView).reverse(),
  },
  {
    path: '/api/events',
    summary: 'what happened to machines, the latest first',
    shape: HistoryShape,
    list: true,
    answer: ({ view }) =>
      view
        .machines()
        .flatMap(({ spec, history }) => history.map((entry) => historyView(spec.name, entry)))
        .sort((a, b) => b.at - a.at),
  },
  {
    path: '/api/pods',
    summary: 'pods that wait for a machine, and what becomes of them',
    shape: PodShape,
    list: true,
    answer: ({ view, surroundings }) => {
      const cluster = surroundings.last();
      const latest = view.decisions().at(-1);
      return cluster ? waitingPods(cluster).map((pod) => podView(pod, latest)) : [];
    },
  },
  {
    path: '/api/pressure',
    summary: 'what nodes with a sensor feel, as far as it was told lately',
    shape: PressureShape,
    list: true,
    volatile: true,
    answer: ({ pressure }) => pressure(),
  },
  {
    path: '/api/energy',
    summary: 'watts now, and what was saved against everything being on',
    shape: EnergyShape,
    volatile: true,
    answer: ({ energy }) => energy(),
  },
  {
    path: '/api/about',
    summary: 'the host itself',
    shape: AboutShape,
    answer: ({ view, surroundings, now }) => ({
      version: packageJson.version,
      now: now(),
      dryRun: view.settings().dryRun,
      caption: view.caption(),
      cluster: surroundings.last() !== undefined,
    }),
  },
];

const Page = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(1_000),
  after: z.coerce.number().int().min(0).default(0),
});

/** The API, its description and its stream of changes. */
export function apiRoutes(deps: ApiDeps): Route[] {
  // Revisions of a store in memory begin anew with every process.
  const era = deps.now().toString(36);
  return [
    streamRoute(deps.view),
    {
      method: 'GET',
      path: '/api/*',
      async respond({ request }) {
        const url = new URL(request.url ?? '/', 'http://api');
        await deps.surroundings.refresh();
        return zipped(
          await answer(deps, era, decoded(url.pathname), url.searchParams, request.headers['if-none-match']),
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

async function answer(
  deps: ApiDeps,
  era: string,
  path: string,
  query: URLSearchParams,
  known: string | undefined,
): Promise<Answer> {
  const row = rows
    .map((one) => ({ one, name: nameIn(one.path, path) }))
    .find(({ name }) => name !== undefined);
  if (!row) throw new HttpError(404, `nothing is at ${path}`, { paths: rows.map((one) => one.path) });
  const { view, surroundings } = deps;
  const page = Page.safeParse(Object.fromEntries(query));
  if (!page.success)
    throw new HttpError(
      400,
      page.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
    );
  const etag = `"${era}-${view.revision}-${surroundings.version}-${query}"`;
  const headers = { etag, 'cache-control': 'no-cache' };
  if (known === etag && !row.one.volatile) return { status: 304, headers };
  const result = await row.one.answer({ ...deps, use: surroundings.use(), name: row.name ?? '' });
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
function nameIn(pattern: string, path: string): string | undefined {
  if (!pattern.endsWith('/{name}')) return pattern === path ? '' : undefined;
  const prefix = pattern.slice(0, -'{name}'.length);
  const rest = path.slice(prefix.length);
  return path.startsWith(prefix) && rest !== '' && !rest.includes('/') ? rest : undefined;
}
