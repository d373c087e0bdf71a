import { defaultMachines, type Scenario, scenarios } from '../../simulator/demo/scenario.ts';

const all = Object.entries(scenarios) as [keyof typeof scenarios, Scenario][];

describe.each(all)('%s', (name, scenario) => {
  test.each([3, defaultMachines[name], 500])(
    '%d machines: as many as asked for, each with a name of its own',
    (count) => {
      const pools = scenario.pools(count);
      const names = pools.flatMap(({ machines }) => machines.map((machine) => machine.name));
      expect(names).toHaveLength(count);
      expect(new Set(names).size).toBe(count);
      expect(pools.every(({ machines }) => machines.length > 0)).toBe(true);
    },
  );

  test('scenes are about workloads and pools that there are', () => {
    const pools = scenario.pools(defaultMachines[name]).map((pool) => pool.name);
    const workloads = scenario.workloads.map((workload) => workload.name);
    expect(pools).toEqual(expect.arrayContaining(scenario.workloads.map(({ pool }) => pool)));
    for (const { scale, breaks } of scenario.scenes) {
      if (scale) expect(workloads).toContain(scale.workload);
      if (breaks) expect(pools).toContain(breaks);
    }
  });

  test('what is scaled up is scaled down again before the next round', () => {
    const last = new Map(scenario.scenes.flatMap(({ scale }) => (scale ? [[scale.workload, scale]] : [])));
    expect([...last.values()].map(({ share = 0, replicas = 0 }) => share + replicas)).toEqual(
      [...last].map(() => 0),
    );
  });
});

test('a day is three pools, about two minutes, and a BMC that breaks and is mended', () => {
  const { day } = scenarios;
  expect(day.pools(16)).toHaveLength(3);
  const lasts = day.scenes.reduce((sum, { afterMs }) => sum + afterMs, 0);
  expect(lasts).toBeGreaterThan(110_000);
  expect(lasts).toBeLessThan(130_000);
  const broken = day.scenes.findIndex(({ breaks }) => breaks !== undefined);
  expect(broken).toBeGreaterThan(0);
  expect(day.scenes.findIndex(({ mends }) => mends)).toBeGreaterThan(broken);
});
