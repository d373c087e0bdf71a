import { lifecycle, stepOf } from '../../shared/core/machine/lifecycle.ts';
import { isToBeReleased } from './support/explorer/drain.ts';
import { explore } from './support/explorer/explore.ts';
import { begin, takeStep } from './support/explorer/functions.ts';
import { scenarios } from './support/explorer/scenarios.ts';
import { machineLease } from './support/explorer/store.ts';
import { machineAt, podsOn, type Rules, right, type Scenario, type World } from './support/explorer/world.ts';

/** What a world shows, by the name of the fault that led there. */
const sights: Readonly<Record<string, (world: World, m: number) => boolean>> = {
  'fault 4: killed after the intent, before the command': (world, m) => {
    const one = world.machines[m];
    return (
      one?.status.operation !== undefined && one.commands.length === 0 && world.leases[machineLease(m)] === -1
    );
  },
  'fault 5: killed after the command, before the result': (world, m) => {
    const one = world.machines[m];
    return (
      one?.status.operation !== undefined && one.commands.length > 0 && world.leases[machineLease(m)] === -1
    );
  },
  'fault 6: a stale holder is about to write': (world, m) =>
    world.slots.some(
      (run, slot) =>
        run?.m === m && ['record', 'conclude'].includes(run.at) && world.leases[machineLease(m)] !== slot,
    ),
  'fault 7: the lease runs out between a command and its sending': (world, m) =>
    world.slots.some(
      (run, slot) => run?.m === m && run.at === 'send' && world.leases[machineLease(m)] !== slot,
    ),
  'fault 15: told, taken, nothing happened': (world, m) => {
    const one = world.machines[m];
    return (one?.commands.length ?? 0) > 1 && one?.pending === undefined && one?.on !== (one?.goal === 'on');
  },
  'fault 18: on, and never a node': (world, m) =>
    world.machines[m]?.status.lastError?.code === 'never-joined',
  'fault 20: a node that is not Ready while its machine serves': (world, m) =>
    world.machines[m]?.status.state === 'ready' && world.machines[m]?.node?.ready === false,
  'fault 25: a drain that was given up': (world, m) => {
    const one = world.machines[m];
    return one?.status.state === 'ready' && one.status.attempts > 0;
  },
  'fault 26: a pod on a machine that is drained': (world, m) =>
    world.machines[m]?.status.state === 'draining' && podsOn(world, m) > 0,
  'fault 30: two evaluations at once': (world) =>
    world.slots.filter((run) => run?.fn === 'evaluate').length === 2,
  'fault 31: switched on by hand': (world, m) =>
    world.machines[m]?.on === true && world.machines[m]?.status.state === 'off',
};

const see = (world: World): string[] =>
  Object.entries(sights)
    .filter(([, sight]) => world.machines.some((_, m) => sight(world, m)))
    .map(([name]) => name);

/** No invariant is broken anywhere, every world ends well by ticks alone, and what is named was really met. */
function survives(scenario: Scenario, ...faults: string[]): void {
  const { violation, states, met } = explore(scenario, right, see);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(scenario.mostStates / 2);
  for (const fault of faults) expect([...met].map((name) => name.split(':')[0])).toContain(fault);
}

test('fault 4, fault 5, fault 6, fault 7: workers are killed, or stopped until others have taken over', () => {
  survives(scenarios.power, 'fault 4', 'fault 5', 'fault 6', 'fault 7');
});

test('never on while an off is pending, whoever sent it', () => {
  survives(scenarios.pending, 'fault 4');
});

test('fault 25, fault 26: pods land and joiners interfere while a node is drained', () => {
  survives(scenarios.drain, 'fault 25', 'fault 26');
});

test('fault 30: two evaluations at once never bring a pool above its maximum', () => {
  survives(scenarios.limits, 'fault 30');
});

test('fault 15, fault 18, fault 20, fault 31: hardware and people do as they please', () => {
  survives(scenarios.hardware, 'fault 15', 'fault 18', 'fault 20', 'fault 31');
});

test('fault 10: whatever happened and whatever was lost, ticks alone bring everything to its end', () => {
  survives(scenarios.everything, 'fault 4', 'fault 5', 'fault 6', 'fault 26');
});

test('fault 2: a wake-up that comes late, twice or out of order changes nothing', () => {
  const changed: string[] = [];
  const scenario: Scenario = { ...scenarios.everything, mostStates: 2_000, walks: 20 };
  let idle = 0;
  explore(scenario, right, (world) => {
    const slot = world.slots.indexOf(null);
    for (const [m] of world.machines.entries()) {
      if (slot < 0 || world.leases[machineLease(m)] !== undefined) continue;
      for (const [fn, step] of [
        ['power', 'power-action'],
        ['drain', 'drain-node'],
      ] as const) {
        const machine = machineAt(world, m);
        if (stepOf(machine) === step && lifecycle[machine.status.state].deadline) continue;
        if (fn === 'drain' && isToBeReleased(world, m)) continue;
        const woken = structuredClone(world);
        begin(woken, slot, fn, m, right, scenario);
        takeStep(woken, slot, right, scenario);
        idle += 1;
        if (JSON.stringify(woken) !== JSON.stringify(world))
          changed.push(`${fn} ${m}: ${JSON.stringify(world)}`);
      }
    }
    return [];
  });
  expect(idle).toBeGreaterThan(1_000);
  expect(changed).toEqual([]);
});

describe('the explorer notices when', () => {
  test.each<[keyof Rules, string, Scenario, RegExp]>([
    ['fence', 'a commit is not fenced by its lease', scenarios.limits, /more machines were ordered/],
    ['checksLease', 'a stale holder sends its command', scenarios.power, /after a later operation began/],
    [
      'readsUnderLease',
      'a joiner acts on what it read before it had the lease',
      scenarios.drain,
      /while a pod runs/,
    ],
    ['cordonsFirst', 'pods are listed before the cordon', scenarios.drain, /while a pod runs/],
    ['guards', 'the lifecycle is not asked', scenarios.drain, /while a pod runs/],
    [
      'mindsPendingOff',
      'an off that may still come is forgotten',
      scenarios.pending,
      /while an off is pending/,
    ],
  ])('%s: %s', (rule, _what, scenario, expected) => {
    const { violation } = explore(scenario, { ...right, [rule]: false });
    expect(violation?.what).toMatch(expected);
    expect(violation?.trace.length).toBeGreaterThan(3);
  });
});
