import type { Deps } from '../../functions/deps.ts';
import { createCircuitBreaker } from '../../functions/power-action/circuit-breaker.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { Settings } from '../../shared/schema/settings.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { underLease } from '../../shared/state/leases.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type HostWorld, startHostWorld } from '../functions/host-harness.ts';
import { memoryLog } from '../runtime/harness.ts';

const { log } = memoryLog();

describe('a host on a lab', () => {
  let world: HostWorld;
  beforeAll(async () => {
    world = await startHostWorld(
      [{ name: 'mini-1', cpu: 8, memory: '32Gi', pool: 'closet', bootSeconds: 20 }],
      {
        pools: [{ name: 'closet', limits: { maxNodes: 1 } }],
      },
    );
  }, 120_000);
  afterAll(() => world?.close(), 60_000);

  /** By metric and labels, as a scrape shows them. */
  async function scrape(): Promise<Record<string, number>> {
    const text = await (await fetch(`${world.host.url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  }
  /** What only a tick or an event would do, by hand. */
  const goOn = async () => {
    for (const name of ['power-action', 'join-watcher']) await world.post(`/${name}`, {});
  };

  test('a scale-up is told: decided, commanded, booted, done', async () => {
    await world.people.deploy('web', 1, { cpu: '3', memory: '1Gi' });
    await eventually(async () => {
      await world.post('/evaluate-scaling', {});
      expect((await scrape())['bamel_decisions_total{kind="power-on"}']).toBe(1);
    }, 60_000);
    const told = await eventually(async () => {
      await goOn();
      const now = await scrape();
      expect(now['bamel_machines{pool="closet",state="ready"}']).toBe(1);
      return now;
    }, 90_000);
    expect(told).toMatchObject({
      'bamel_evaluations_total{outcome="acted"}': 1,
      bamel_pods_waiting: expect.any(Number),
      bamel_pods_unmet: 0,
      'bamel_power_commands_total{driver="redfish",verb="on",outcome="ok"}': expect.any(Number),
      'bamel_power_operations_total{pool="closet",goal="on",outcome="done"}': 1,
      'bamel_boot_duration_seconds_count{pool="closet"}': 1,
      'bamel_bmcs{pool="closet",reachable="true"}': 1,
      'bamel_pool_ready_nodes{pool="closet"}': 1,
      'bamel_pool_desired_nodes{pool="closet"}': 1,
      'bamel_pool_max_nodes{pool="closet"}': 1,
      bamel_store_up: 1,
    });
    expect(told.bamel_evaluation_duration_seconds_count).toBeGreaterThanOrEqual(1);
  }, 180_000);

  test('what comes in by the door is counted, and so is what does not', async () => {
    const before = await scrape();
    await world.post('/drain-node', '{"machine":');
    const headers = {
      'ce-specversion': '1.0',
      'ce-id': 'a',
      'ce-source': '/t',
      'ce-type': 'dev.bamel.tick.due',
    };
    await fetch(`${world.host.url}/drain-node`, { method: 'POST', headers });
    const now = await scrape();
    const added = (name: string) => (now[name] ?? 0) - (before[name] ?? 0);
    expect(added('bamel_requests_refused_total{reason="malformed"}')).toBe(1);
    expect(added('bamel_events_received_total{function="drain-node"}')).toBe(1);
  });
});

test('a lease that another holds is counted by kind, not by machine', async () => {
  const store = await openStore('embedded:');
  const metrics = createMetrics();
  const inventory = createInventory(store, realClock);
  const deps = { inventory, owner: 'me', clock: realClock, metrics };
  const held = await store.acquire('machine-m-1', 60_000, 'somebody');
  const take = (ms: number) => underLease(deps, 'machine-m-1', 1_000, { ms }, async () => 'worked');
  expect(await take(0)).toBeUndefined();
  const waiting = take(60_000);
  await held?.release();
  expect(await waiting).toBe('worked');
  expect(await take(0)).toBe('worked');
  const { values } = await metrics.leaseContention.get();
  expect(values.map(({ labels, value }) => [labels.lease, labels.outcome, value])).toEqual([
    ['machine', 'gave-up', 1],
    ['machine', 'got', 1],
  ]);
  await store.close();
});

test('BMCs that are left alone are counted while they are', async () => {
  const metrics = createMetrics();
  const bmcs = createCircuitBreaker({ clock: realClock, log, metrics } as unknown as Deps);
  const spec = { name: 'm-1', mgmtAddress: '192.0.2.1' } as MachineSpec;
  const { timings } = Settings.parse({});
  const paused = async () => (await metrics.bmcsPaused.get()).values[0]?.value;
  for (let times = 0; times < 3; times += 1) {
    expect(await paused()).toBe(0);
    bmcs.failed(spec, new PowerError('timeout', 'no answer'), timings);
  }
  expect(await paused()).toBe(1);
  bmcs.answered(spec);
  expect(await paused()).toBe(0);
});
