import packageJson from '../../package.json' with { type: 'json' };
import { waitingPods } from '../core/decide/snapshot.ts';
import { HttpError } from '../server/http-response.ts';
import { explainRows } from './explain.ts';
import { offerRows } from './offer-rows.ts';
import { overviewNow } from './overview.ts';
import {
  decisionSummary,
  decisionView,
  historyView,
  machineDetail,
  machineView,
  operationView,
  podView,
  poolView,
} from './project.ts';
import type { ApiRow } from './row.ts';
import {
  AboutShape,
  DecisionShape,
  DecisionSummaryShape,
  EnergyShape,
  HistoryShape,
  MachineDetailShape,
  MachineShape,
  OperationShape,
  OverviewShape,
  PodShape,
  PoolShape,
  PressureShape,
  TrendShape,
} from './shapes.ts';
import { ranges } from './trend.ts';

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
    path: '/api/overview',
    summary: 'machines, pods and watts in figures, and what comes next',
    shape: OverviewShape,
    volatile: true,
    answer: overviewNow,
  },
  {
    path: '/api/trend',
    summary: 'how machines, pods, utilization and watts changed',
    shape: TrendShape,
    volatile: true,
    query: { range: `${Object.keys(ranges).join(', ')}; 1h unless given` },
    answer: ({ trend, query }) => trend(query.get('range') ?? '1h'),
  },
  {
    path: '/api/about',
    summary: 'the host itself',
    shape: AboutShape,
    answer: ({ view, surroundings, now, may }) => ({
      version: packageJson.version,
      now: now(),
      dryRun: view.settings().dryRun,
      caption: view.caption(),
      cluster: surroundings.last() !== undefined,
      may,
    }),
  },
  ...offerRows,
  ...explainRows,
];
