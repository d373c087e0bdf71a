import { monitoringPrograms, nodeMetrics } from '../../../tools/real-stack/monitoring.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type MonitoredWorld, startMonitoredWorld } from './prometheus-world.ts';

describeWith(monitoringPrograms, 'alerts of a real Prometheus through two real Alertmanagers', () => {
  let world: MonitoredWorld;
  beforeAll(async () => {
    world = await startMonitoredWorld(
      // Long enough for what happens after the false `resolved`, also on a slow machine.
      { scaleDown: { unneededFor: '40s' } },
      { alertmanagers: true },
    );
    world.monitoring.measure(nodeMetrics('m-1', 'rack', 20));
    await untilServing(1);
  });
  afterAll(() => world?.close());

  const serving = async (): Promise<number> => {
    const { kept } = (await world.evaluate({ dryRun: true })) as { kept: { code: string }[] };
    return kept.filter(({ code }) => code !== 'between-states').length;
  };
  const untilServing = (count: number) =>
    waitFor(`${count} machines in service`, async () => ((await serving()) === count ? true : undefined));
  // A command may be sent again: which machines got one.
  const ons = () => [...new Set(world.commands().filter((command) => command.endsWith(' On')))];
  const offs = () => world.commands().filter((command) => !command.endsWith(' On'));
  const sentBy = async (alertmanager: { url: string }): Promise<number> => {
    const text = await (await fetch(`${alertmanager.url}/metrics`)).text();
    return Number(/alertmanager_notifications_total\{integration="webhook"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const steers = async () => Object.values((await world.book()).steers);

  test('a metric crosses its threshold → alert → webhook, twice → one power command at a BMC', async () => {
    expect(ons()).toEqual(['m-1 On']);
    const crossed = Date.now();
    world.monitoring.measure(nodeMetrics('m-1', 'rack', 90));
    await waitFor('a power command', () => (ons().length > 1 ? true : undefined));
    const took = Math.max(...world.commandTimes()) - crossed;
    console.info(
      `from the metric to the power command: ${took} ms (scraped and evaluated every second, for: 1s)`,
    );
    for (const alertmanager of world.monitoring.alertmanagers)
      await waitFor('both have sent it', async () => ((await sentBy(alertmanager)) > 0 ? true : undefined));
    await untilServing(2);
    expect(await steers()).toMatchObject([{ pool: 'rack', alert: 'BamelPoolBusy' }]);
    expect(ons()).toHaveLength(2);
  });

  test('while it fires nothing leaves, although nothing has run there for long enough', async () => {
    // That is the reason only once it has been unneeded for as long as it must be.
    await waitFor(
      'the alert to be the reason',
      async () => {
        const { kept } = await world.evaluate({ dryRun: true });
        return (kept as { code: string }[]).some(({ code }) => code === 'alert-fires') ? true : undefined;
      },
      { timeoutMs: 150_000 },
    );
    await world.passEvaluations(3);
    expect(offs()).toEqual([]);
  });

  test('Prometheus is killed: the false `resolved` of everything powers nothing off', async () => {
    await world.monitoring.prometheus.kill();
    await waitFor('the false resolved', async () => ((await steers())[0]?.endedAt ? true : undefined), {
      timeoutMs: 120_000,
    });
    await world.passEvaluations(3);
    const { powerOff, kept } = await world.evaluate({ dryRun: true });
    expect(powerOff).toEqual([]);
    expect(kept).toContainEqual(expect.objectContaining({ code: 'alert-fired' }));
    expect(offs()).toEqual([]);
  });

  test('it comes back while one Alertmanager is dead: the other one tells, and nothing is doubled', async () => {
    const [first] = world.monitoring.alertmanagers;
    const before = (await steers())[0]?.startsAt;
    await first?.kill();
    await world.monitoring.prometheus.restart();
    await waitFor('the new episode', async () => {
      const [steer] = await steers();
      return steer && steer.startsAt !== before && steer.endedAt === undefined ? true : undefined;
    });
    await world.passEvaluations(3);
    // The machine of before has not had its five minutes to help.
    expect(ons()).toHaveLength(2);
    expect(offs()).toEqual([]);
  });

  test('both Alertmanagers are dead: what fired goes on to count, and nothing leaves', async () => {
    for (const alertmanager of world.monitoring.alertmanagers) await alertmanager.kill();
    await world.passEvaluations(3);
    const { powerOff } = await world.evaluate({ dryRun: true });
    expect(powerOff).toEqual([]);
    expect(offs()).toEqual([]);
  });
});
