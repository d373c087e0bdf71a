import type { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { type Snapshot, waitingPods } from '../../shared/core/decide/snapshot.ts';
import { HttpError } from '../../shared/server/http-answer.ts';
import type { May } from '../../shared/server/routes.ts';
import { explainRows } from '../../shared/view/explain.ts';
import { offerRows, type RemoteView } from '../../shared/view/offers.ts';
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
} from '../../shared/view/project.ts';
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
} from '../../shared/view/shapes.ts';
import type { Surroundings } from '../../shared/view/surroundings.ts';
import type { View } from '../../shared/view/view.ts';

export interface ApiDeps {
  readonly view: View;
  readonly surroundings: Surroundings;
  now(): number;
  energy(): Promise<EnergyView>;
  pressure(): Promise<readonly PressureView[]>;
  readonly remote: RemoteView;
  /** Throws ClusterError while the cluster is away. */
  snapshot(): Promise<Snapshot>;
}

interface Asked extends ApiDeps {
  readonly use: Use;
  readonly name: string;
  /** What whoever asks may do. */
  readonly may: May;
}

/** One thing that can be asked for. `list` answers come in pages. */
export interface ApiRow {
  readonly path: string;
  readonly summary: string;
  readonly shape: z.ZodType;
  readonly list?: boolean;
  /** Another one at every look, whatever the store says. */
  readonly volatile?: boolean;
  /** A name may have slashes in it. */
  readonly slashInName?: boolean;
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
