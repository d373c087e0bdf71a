import { metricTable } from '../../shared/process/metric-table.ts';

const sourceOf = (from: readonly string[]): string => {
  if (from.length === 0) return 'host';
  return from.includes('*') ? 'every function' : from.join(', ');
};

const rows = Object.values(metricTable).map(
  ({ name, type, labels, help, from }) =>
    `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${help} | ${sourceOf(from)} |`,
);

/** docs/metrics.md */
export const metricsPage = (): string =>
  `<!-- Generated from shared/process/metric-table.ts by npm run generate. -->

# Metrics

Every function serves its metrics at \`GET /metrics\` in Prometheus' text format; the host serves those of all functions. Process metrics have the prefix \`bamel_\` too (\`bamel_process_cpu_seconds_total\`, \`bamel_nodejs_eventloop_lag_seconds\` …).

Metrics of machines and pools are read from the store at every scrape, so every instance returns the same values: aggregate several hosts with \`max\`, not \`sum\`. Counters belong to one process. No label value is chosen by a sender or changes with pods.

| metric | type | labels | meaning | from |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

Reasons of \`bamel_requests_refused_total\`: [security](security.md#refusals). To scrape with the Prometheus Operator, apply [config/prometheus/service-monitor.yaml](../config/prometheus/service-monitor.yaml); it uses [the health and metrics port](security.md#health-and-metrics-port). The main port needs a read token.
`;
