import { monitoringPrograms, nodeMetrics } from '../../../tools/real-stack/monitoring.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type MonitoredWorld, startMonitoredWorld } from './prometheus-world.ts';

describeWith(monitoringPrograms, 'triggers on a real Prometheus', () => {
  let world: MonitoredWorld;
  beforeAll(async () => {
    world = await startMonitoredWorld(
      {
        scaleDown: { unneededFor: '1s' },
        triggers: [
          {
            name: 'memory',
            metricQuery: 'pool_memory_utilization{pool="rack"}',
            threshold: 70,
            duration: '2s',
          },
        ],
      },
      { alertmanagers: false },
    );
  });
  afterAll(() => world?.close());

  // A command may be sent again: which machines got one.
  const ons = () => [...new Set(world.commands().filter((command) => command.endsWith(' On')))];
  const notes = async () => (await world.evaluate({ dryRun: true })).notes;

  test('no data is said, and is no reason to do anything', async () => {
    await waitFor('the minimum', () => (ons().length === 1 ? true : undefined));
    await waitFor('it to be said', async () =>
      JSON.stringify(await notes()).includes('gives no data') ? true : undefined,
    );
    expect(ons()).toHaveLength(1);
  });

  test('above the threshold for long enough: one more machine, by the name people know', async () => {
    world.monitoring.measure(nodeMetrics('m-1', 'rack', 90));
    await waitFor('a power command', () => (ons().length > 1 ? true : undefined));
    const entries = world.host.lines.filter((line) => line.includes('memory is 90, above 70 for 2 s'));
    expect(entries).not.toEqual([]);
  });

  test('Prometheus is killed: it is said, and nothing leaves for lack of a number', async () => {
    await world.monitoring.prometheus.kill();
    await waitFor('it to be said', async () =>
      JSON.stringify(await notes()).includes('cannot be reached (ECONNREFUSED)') ? true : undefined,
    );
    await world.passEvaluations(6);
    expect(world.commands().filter((command) => !command.endsWith(' On'))).toEqual([]);
  });

  test('it comes back, below the threshold: what nobody needs leaves', async () => {
    world.monitoring.measure(nodeMetrics('m-1', 'rack', 10));
    await world.monitoring.prometheus.restart();
    await waitFor('a power-off', () =>
      world.commands().some((command) => !command.endsWith(' On')) ? true : undefined,
    );
    expect(ons().length).toBeGreaterThanOrEqual(2);
  });
});
