import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { collector, measured } from '../../apps/host/measure.ts';
import { functionTable } from '../../functions/index.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { type Store, StoreError } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { isExportedBy, metricTable } from '../../shared/process/metric-table.ts';
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { memoryLog } from '../runtime/harness.ts';
import { deadLetterOf, fleet } from './fleet.ts';

const rows = Object.values(metricTable);

describe('the table of metrics', () => {
  test.each(rows.map((row) => [row.name, row] as const))(
    '%s is named as Prometheus wants it',
    (name, row) => {
      expect(name).toMatch(/^bamel_[a-z]+(_[a-z]+)*$/);
      // Counters, and nothing else, end in _total; units are base units, and come last.
      expect(name.endsWith('_total')).toBe(row.type === 'counter');
      expect(name).not.toMatch(/milli|minutes|hours|kwh|percent/);
      if (row.type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(row.help).toMatch(/^[A-Z1].*[^.]$/);
      for (const label of row.labels) expect(label).toMatch(/^[a-z]+$/);
      expect(row.labels).not.toEqual(expect.arrayContaining(['le']));
    },
  );

  test('no metric is there twice, and none has a series per pod, node, caller or event', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    const labels = new Set<string>(rows.flatMap(({ labels: own }) => [...own]));
    for (const unbounded of ['pod', 'namespace', 'node_name', 'caller', 'id', 'path', 'error'])
      expect([...labels]).not.toContain(unbounded);
  });

  test('who tells it is a function, or the sensor', () => {
    const names = functionTable.map(({ definition }) => definition.name);
    for (const one of rows.flatMap(({ from }) => [...from])) expect(['*', 'sensor', ...names]).toContain(one);
  });

  test('a function alone exports its own, the host those of all functions', async () => {
    for (const name of [undefined, ...functionTable.map(({ definition }) => definition.name)]) {
      const text = await createMetrics(name).registry.metrics();
      const exported = rows.filter((row) => text.includes(`# TYPE ${row.name} ${row.type}\n`));
      expect(exported.map((row) => row.name)).toEqual(
        rows.filter((row) => isExportedBy(row, name)).map((row) => row.name),
      );
    }
  });
});

test('the ServiceMonitor finds the host’s Service, by a port that it has', () => {
  const read = (file: string) => readFileSync(new URL(`../../config/${file}`, import.meta.url), 'utf8');
  const { spec } = parse(read('prometheus/service-monitor.yaml'));
  const service = read('manager/host.yaml')
    .split(/^---$/m)
    .map((text) => parse(text))
    .find(({ kind }) => kind === 'Service');
  expect(service.metadata.labels).toMatchObject(spec.selector.matchLabels);
  expect(service.spec.ports.map(({ name }: { name: string }) => name)).toContain(spec.endpoints[0].port);
});

describe('what is read from the store when somebody asks', () => {
  let store: Store;
  let metrics: Metrics;
  let away = false;
  beforeAll(async () => {
    const real = await openStore('embedded:');
    store = real;
    await fleet(real);
    await deadLetterOf(real);
    metrics = createMetrics();
  });
  afterAll(() => store.close());

  async function scrape(tellsFleet = true): Promise<Map<string, number>> {
    const inventory = createInventory(store, realClock);
    const gone = async () => {
      throw new StoreError('unavailable', 'the store is away');
    };
    const deps = measured(
      { inventory: away ? { ...inventory, machines: gone, settings: gone } : inventory },
      metrics,
    );
    await collector({ ...deps, log: memoryLog().log }, metrics, tellsFleet)();
    const lines = (await metrics.registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  }

  test('machines, pools, drains, BMCs, watts, energy, dead letters', async () => {
    const told = await scrape();
    expect(Object.fromEntries([...told].filter(([name]) => expected[name] !== undefined))).toEqual(expected);
    expect([...told.keys()].filter((name) => name.startsWith('bamel_build_info'))).toHaveLength(1);
    // One that is off draws nothing, whatever was measured before.
    for (const measured of ['bamel_machine_watts', 'bamel_machine_temperature_celsius'])
      expect([...told.keys()].filter((name) => name.startsWith(measured))).toHaveLength(1);
  });

  test('asked again it is the same, not twice as much', async () => {
    const first = await scrape();
    const second = await scrape();
    for (const name of Object.keys(expected))
      expect([name, second.get(name)]).toEqual([name, first.get(name)]);
  });

  test('without the store: that, and nothing stale; counters do not fall', async () => {
    const before = await scrape();
    away = true;
    const told = await scrape();
    away = false;
    expect(told.get('bamel_store_up')).toBe(0);
    expect([...told.keys()].filter((name) => name.startsWith('bamel_machines{'))).toEqual([]);
    const saved = 'bamel_energy_saved_joules_total';
    expect(told.get(saved)).toBe(before.get(saved));
    expect((await scrape()).get('bamel_store_up')).toBe(1);
  });

  test('a function that does not tell of machines only looks whether the store answers', async () => {
    metrics = createMetrics('power-action');
    const told = await scrape(false);
    expect(told.get('bamel_store_up')).toBe(1);
    expect([...told.keys()].filter((name) => name.startsWith('bamel_machines'))).toEqual([]);
  });
});

const expected: Readonly<Record<string, number>> = {
  bamel_store_up: 1,
  'bamel_machines{pool="rack",state="ready"}': 1,
  'bamel_machines{pool="rack",state="draining"}': 1,
  'bamel_machines{pool="rack",state="off"}': 1,
  'bamel_machine_state_since_timestamp_seconds{machine="r-1",pool="rack",state="ready"}': 1_000,
  'bamel_machine_info{machine="r-1",pool="rack",node="tower-1"}': 1,
  'bamel_machine_info{machine="r-3",pool="rack",node=""}': 1,
  'bamel_machine_watts{machine="r-1",pool="rack"}': 120,
  'bamel_machine_temperature_celsius{machine="r-1",pool="rack"}': 41,
  'bamel_machines_by_health{pool="rack",health="ok"}': 1,
  'bamel_machines_by_health{pool="rack",health="unknown"}': 2,
  'bamel_drain_pods_left{machine="r-2",pool="rack"}': 3,
  'bamel_drain_pods_found{machine="r-2",pool="rack"}': 7,
  'bamel_bmcs{pool="rack",reachable="true"}': 1,
  'bamel_bmcs{pool="rack",reachable="false"}': 1,
  'bamel_bmcs{pool="rack",reachable="unknown"}': 1,
  'bamel_bmcs_refusing{pool="rack"}': 1,
  'bamel_pool_min_nodes{pool="rack"}': 1,
  'bamel_pool_max_nodes{pool="rack"}': 5,
  'bamel_pool_desired_nodes{pool="rack"}': 1,
  'bamel_pool_ready_nodes{pool="rack"}': 1,
  bamel_power_watts: 120,
  bamel_power_if_all_on_watts: 200,
  bamel_energy_used_joules_total: 36_000,
  bamel_energy_saved_joules_total: 7_200,
  bamel_dead_letters: 1,
};
