import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { silentAfterMs } from '../../shared/core/decide/signals/alert-book.ts';
import { steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import { defaultPool } from '../../shared/core/settings.ts';
import { metricTable } from '../../shared/process/metric-table.ts';
import { durationMs } from '../../shared/schema/duration.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { readText, root } from '../docs/markdown.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const folder = 'config/prometheus';
const rulesOf = (file: string): Rule[] =>
  parse(readText(`${folder}/${file}`)).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const alerts = rulesOf('alert-rules.yaml');
const records = rulesOf('recording-rules.yaml');
const metrics = Object.values(metricTable);

/** Metrics of ours that an expression names, each with the labels that it is picked by. */
function named(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b(bamel_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
  }));
}

test.each(
  [...alerts, ...records].flatMap(({ alert, record, expr }) =>
    named(expr).map((one) => [alert ?? record, one] as const),
  ),
)('%s asks for a metric that there is: %j', (_rule, { name, labels }) => {
  const metric = metrics.find((one) => one.name === name);
  expect(metric?.name).toBe(name);
  expect(metric?.labels).toEqual(expect.arrayContaining(labels));
});

test('pools and machines are told apart by labels that the metrics have', () => {
  for (const { expr } of alerts)
    for (const [, grouping = ''] of expr.matchAll(/by \(([^)]*)\)/g))
      for (const label of grouping.split(/,\s*/))
        for (const { name } of named(expr)) {
          const known: readonly string[] = metrics.find((one) => one.name === name)?.labels ?? [];
          if (label !== 'instance') expect([name, ...known]).toContain(label);
        }
});

test('every metric that alerts take from the recording rules is recorded there', () => {
  const recorded = records.map(({ record }) => record);
  const wanted = alerts.flatMap(({ expr }) =>
    [...expr.matchAll(/__name__=~"([^"]+)"/g)].flatMap(([, pattern = '']) => {
      const matching = recorded.filter((name) => new RegExp(`^(?:${pattern})$`).test(name ?? ''));
      return matching.length > 0 ? matching : [`nothing like ${pattern}`];
    }),
  );
  expect(new Set(wanted)).toEqual(new Set(['pool_cpu_utilization', 'pool_memory_utilization']));
});

test('what is shipped is what was promised', () => {
  expect(alerts.map(({ alert }) => alert)).toEqual(
    expect.arrayContaining([
      'BamelPodsUnschedulable',
      'BamelPoolBusy',
      'BamelPoolIdle',
      'BamelMachineQuarantined',
      'BamelBMCUnreachable',
      'BamelStoreUnreachable',
      'BamelDemandUnmet',
      'BamelMachineHot',
    ]),
  );
  expect(records.map(({ record }) => record)).toEqual(
    expect.arrayContaining([
      'node_cpu_utilization',
      'node_memory_utilization',
      'node_temperature',
      'node_power_consumption',
      'pending_pods_total',
      'unschedulable_pods_total',
      'pod_creation_rate',
      'job_completion_rate',
    ]),
  );
});

test.each(alerts.map((rule) => [rule.alert ?? '', rule] as const))(
  '%s is explained, and steers what its labels say',
  (name, { labels = {}, annotations = {} }) => {
    expect(annotations.summary).toBeTruthy();
    expect(annotations.runbook).toBe(`docs/alerts.md#${name.toLowerCase()}`);
    expect(readText('docs/alerts.md')).toContain(`### ${name}\n`);
    const alert = {
      status: 'firing',
      labels: { ...labels, pool: 'rack' },
      fingerprint: '0',
      startsAt: '',
    } as const;
    const { pool } = steeringOf(alert, [{ ...defaultPool, name: 'rack' }], []);
    expect(pool).toBe(labels.bamel_scale === 'up' ? 'rack' : undefined);
  },
);

test('docs/alerts.md explains every alert and no other, and names every recorded metric', () => {
  const page = readText('docs/alerts.md');
  const explained = [...page.matchAll(/^### (Bamel\w+)$/gm)].map(([, name]) => name);
  expect(explained.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  const missing = records
    .map(({ record = '' }) => record)
    .filter((record) => !page.includes(`\`${record}\``));
  expect(missing.filter((record) => !record.startsWith('bamel:'))).toEqual([]);
});

test('the route is fast, takes what steers and nothing else, and repeats before an alert is taken for over', () => {
  const { route, receivers } = parse(readText(`${folder}/alertmanager.yaml`));
  const [toBamel] = route.routes;
  expect(toBamel).toMatchObject({ matchers: ['bamel_scale=~".+"'], group_wait: '0s', group_interval: '5s' });
  expect(2 * durationMs.parse(toBamel.repeat_interval)).toBeLessThan(silentAfterMs);
  const receiver = receivers.find(({ name }: { name: string }) => name === toBamel.receiver);
  expect(receiver.webhook_configs[0].http_config.authorization.credentials_file).toMatch(/^\//);
  expect(receiver.webhook_configs[0].url).toMatch(/\/evaluate-scaling$/);
});

describeWith(['promtool', 'amtool'], 'what Prometheus and Alertmanager say of it', () => {
  const files = ['recording-rules.yaml', 'alert-rules.yaml'].map((file) => join(root, folder, file));
  const tests = readdirSync(join(root, folder, 'tests')).map((file) => join(root, folder, 'tests', file));
  test.each<[string, string[]]>([
    ['promtool', ['check', 'rules', ...files]],
    ['promtool', ['test', 'rules', ...tests]],
    ['amtool', ['check-config', join(root, folder, 'alertmanager.yaml')]],
  ])('%s %j', (program, args) => {
    expect(execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' })).toContain('SUCCESS');
  });
});
