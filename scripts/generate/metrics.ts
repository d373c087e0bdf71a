import { metricTable } from '../../shared/process/metric-table.ts';

const told = (from: readonly string[]): string => {
  if (from.length === 0) return 'host';
  return from.includes('*') ? 'every function' : from.join(', ');
};

const rows = Object.values(metricTable).map(
  ({ name, type, labels, help, from }) =>
    `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${help} | ${told(from)} |`,
);

/** docs/metrics.md */
export const metricsPage = (): string =>
  `<!-- Generated from shared/process/metric-table.ts by npm run generate. -->

# Metrics

Every function tells its own at \`GET /metrics\`, in Prometheus' text format; the host, which has all functions in it, tells all of them. Besides these there are those of the process, with the prefix \`bamel_\` too (\`bamel_process_cpu_seconds_total\`, \`bamel_nodejs_eventloop_lag_seconds\` …).

What is told of machines and pools is read from the store when somebody asks, so that every instance tells the same; with several hosts take \`max\`, not \`sum\`. What is counted is counted by each process for itself. No label has a value that a sender chooses or that comes and goes with pods; machines have a series of their own only where one is needed.

| metric | type | labels | means | told by |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

Reasons of \`bamel_requests_refused_total\`: [security](security.md#what-is-refused). To have Prometheus fetch them: [config/prometheus/service-monitor.yaml](../config/prometheus/service-monitor.yaml); it asks at [a port of its own](security.md#a-port-for-health-and-metrics). At the other port it needs a token that may look.
`;
