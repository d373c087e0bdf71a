import { metricTable as metrics } from '../../shared/process/metric-table.ts';

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly type: 'timeseries' | 'stat';
  readonly stacked?: true;
  /** What is asked for, and what its lines are called. */
  readonly queries: readonly (readonly [query: string, legend: string])[];
}

const total = (metric: { readonly name: string }, by: string) => `sum by (${by}) (${metric.name})`;
const perHour = (metric: { readonly name: string }, by: string) =>
  `sum by (${by}) (increase(${metric.name}[1h]))`;
const quantile = (share: number, metric: { readonly name: string }, by: string) =>
  `histogram_quantile(${share}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${metric.name}_bucket[1h])))`;

/** Every panel, four to a row where they are numbers, two where they are plots. */
const panels: readonly Panel[] = [
  {
    title: 'Machines that serve',
    unit: 'none',
    type: 'stat',
    queries: [[`sum(${metrics.poolReady.name})`, 'ready']],
  },
  { title: 'Pods nothing serves', unit: 'none', type: 'stat', queries: [[metrics.podsUnmet.name, 'unmet']] },
  { title: 'Drawn now', unit: 'watt', type: 'stat', queries: [[metrics.watts.name, 'watts']] },
  {
    title: 'Saved in 30 days',
    unit: 'kwatth',
    type: 'stat',
    queries: [[`increase(${metrics.energySaved.name}[30d]) / 3.6e6`, 'kWh']],
  },
  {
    title: 'Machines by state',
    unit: 'none',
    type: 'timeseries',
    stacked: true,
    queries: [[total(metrics.machines, 'state'), '{{state}}']],
  },
  {
    title: 'Demand',
    unit: 'none',
    type: 'timeseries',
    queries: [
      [metrics.podsWaiting.name, 'pods that wait'],
      [metrics.podsUnmet.name, 'of them, no machine serves'],
    ],
  },
  {
    title: 'Nodes by pool',
    unit: 'none',
    type: 'timeseries',
    queries: [
      [total(metrics.poolReady, 'pool'), '{{pool}} ready'],
      [total(metrics.poolDesired, 'pool'), '{{pool}} desired'],
    ],
  },
  {
    title: 'Decisions per hour',
    unit: 'none',
    type: 'timeseries',
    queries: [[perHour(metrics.decisions, 'kind'), '{{kind}}']],
  },
  {
    title: 'Power operations per hour',
    unit: 'none',
    type: 'timeseries',
    queries: [[perHour(metrics.operations, 'goal, outcome'), '{{goal}} {{outcome}}']],
  },
  {
    title: 'BMC commands per hour',
    unit: 'none',
    type: 'timeseries',
    queries: [[perHour(metrics.powerCommands, 'driver, outcome'), '{{driver}} {{outcome}}']],
  },
  {
    title: 'Boot times',
    unit: 's',
    type: 'timeseries',
    queries: [
      [quantile(0.5, metrics.bootDuration, 'pool'), '{{pool}} median'],
      [quantile(0.95, metrics.bootDuration, 'pool'), '{{pool}} 95 %'],
    ],
  },
  {
    title: 'Evaluations',
    unit: 's',
    type: 'timeseries',
    queries: [[quantile(0.95, metrics.evaluationDuration, ''), '95 % take at most']],
  },
  {
    title: 'Watts',
    unit: 'watt',
    type: 'timeseries',
    queries: [
      [metrics.watts.name, 'drawn'],
      [metrics.wattsIfAllOn.name, 'if everything were on'],
    ],
  },
  {
    title: 'Energy saved per day',
    unit: 'kwatth',
    type: 'timeseries',
    queries: [[`increase(${metrics.energySaved.name}[1d]) / 3.6e6`, 'kWh']],
  },
];

const source = { type: 'prometheus', uid: '$datasource' };
const size = { stat: { w: 6, h: 4 }, timeseries: { w: 12, h: 8 } } as const;
const width = 24;

/** Panels one after the other, a row as full as it gets. */
function placed() {
  let [x, y, rowHeight] = [0, 0, 0];
  return panels.map(({ title, unit, type, stacked, queries }, index) => {
    const { w, h } = size[type];
    if (x + w > width || (x > 0 && h !== rowHeight)) [x, y] = [0, y + rowHeight];
    const gridPos = { x, y, w, h };
    [x, rowHeight] = [x + w, h];
    return {
      id: index + 1,
      title,
      type,
      datasource: source,
      gridPos,
      fieldConfig: {
        defaults: {
          unit,
          min: 0,
          ...(stacked && { custom: { fillOpacity: 30, stacking: { mode: 'normal' } } }),
        },
        overrides: [],
      },
      targets: queries.map(([expr, legendFormat], at) => ({
        refId: String.fromCharCode(65 + at),
        datasource: source,
        expr,
        legendFormat,
      })),
    };
  });
}

const dashboard = () => ({
  title: 'bamel-autoscaler',
  description: 'Machines, demand, decisions, power and energy. Made from the code: npm run generate',
  uid: 'bamel',
  schemaVersion: 39,
  editable: true,
  time: { from: 'now-24h', to: 'now' },
  refresh: '30s',
  templating: {
    list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
  },
  panels: placed(),
});

/** For Grafana's import: every query is made of metrics that there are. */
export const grafanaDashboard = {
  file: 'config/grafana/bamel-dashboard.json',
  text: (): string => `${JSON.stringify(dashboard(), null, 2)}\n`,
};
