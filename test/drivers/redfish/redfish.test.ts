import type { PowerDriver } from '../../../shared/ports/power.ts';
import { type Bmc, startBmc } from '../../../simulator/lab/rack/bmc.ts';
import { manualClock } from '../../../simulator/lab/rack/clock.ts';
import type { FaultName } from '../../../simulator/lab/rack/faults.ts';
import { SimulatedMachine } from '../../../simulator/lab/rack/machine.ts';
import { paths } from '../../../simulator/lab/rack/resources.ts';
import { credentials, driverOf, failing, machineSpec, patient } from '../harness.ts';

const second = 1000;
const { username: user, password } = credentials;

let clock: ReturnType<typeof manualClock>;
let machine: SimulatedMachine;
let bmc: Bmc;
let driver: PowerDriver;
beforeEach(async () => {
  clock = manualClock();
  machine = new SimulatedMachine(
    { name: 'mini-1', cpu: 4, memory: '8Gi', credentials: { user, password } },
    clock,
  );
  bmc = await startBmc(machine);
  driver = await driverOf(machineSpec(bmc.url));
});
afterEach(async () => {
  machine.stop();
  await bmc.close();
});

const power = async () => (await driver.read(patient())).power;
const told = () => machine.commands.map(({ verb }) => verb);
const fault = (name: FaultName, options: object = {}) => machine.faults.set({ fault: name, ...options });

describe('a machine in good order', () => {
  test('reads off, on, and unknown in between', async () => {
    expect(await power()).toBe('off');
    await driver.set('on', patient(), 'op-1');
    expect(machine.powerState).toBe('PoweringOn');
    expect(await power()).toBe('unknown');
    clock.advance(100 * second);
    expect(await power()).toBe('on');
    await driver.set('soft-off', patient(), 'op-1');
    expect(machine.powerState).toBe('PoweringOff');
    expect(await power()).toBe('unknown');
    clock.advance(20 * second);
    expect(await power()).toBe('off');
  });

  test('tells which machine it is', async () => {
    expect((await driver.read(patient())).systemUUID).toBe(machine.identity.systemUUID);
  });

  test('each verb is a command that sets a state, never a toggle', async () => {
    machine.startBooted();
    for (const verb of ['on', 'soft-off', 'hard-off'] as const) await driver.set(verb, patient(), 'op-1');
    expect(told()).toEqual(['On', 'GracefulShutdown', 'ForceOff']);
  });

  test('on when on and off when off are sent, and change nothing', async () => {
    for (const verb of ['soft-off', 'hard-off'] as const) await driver.set(verb, patient(), 'op-1');
    expect(await power()).toBe('off');
    machine.startBooted();
    await driver.set('on', patient(), 'op-1');
    expect(machine.phase).toBe('booted');
    expect(told()).toEqual(['GracefulShutdown', 'ForceOff', 'On']);
  });

  test('a hard off cuts the power of one that ignores a soft off', async () => {
    machine.startBooted();
    fault('ignores-soft-off');
    await driver.set('soft-off', patient(), 'op-1');
    clock.advance(1000 * second);
    expect(await power()).toBe('on');
    await driver.set('hard-off', patient(), 'op-1');
    clock.advance(1 * second);
    expect(await power()).toBe('off');
  });

  test('no PowerState is unknown, not off', async () => {
    fault('no-power-state');
    expect(await power()).toBe('unknown');
  });

  test('the password is looked up at every use, so that a rotation needs no restart', async () => {
    let current = 'old';
    driver = await driverOf(machineSpec(bmc.url), {
      credentials: async () => ({ username: user, password: current }),
    });
    expect((await failing(() => driver.read(patient()))).code).toBe('auth');
    current = password;
    expect(await power()).toBe('off');
  });
});

describe('a BMC that refuses what is so already', () => {
  test.each([400, 409])('%i: success when it is indeed so', async (status) => {
    fault('refuses-when-already', { status });
    for (const verb of ['soft-off', 'hard-off'] as const) await driver.set(verb, patient(), 'op-1');
    machine.startBooted();
    await driver.set('on', patient(), 'op-1');
    expect(machine.commands.map(({ accepted }) => accepted)).toEqual([false, false, false]);
  });

  test('a refusal while it is not so is an error with the reason', async () => {
    fault('refuses-when-already');
    await driver.set('on', patient(), 'op-1');
    const error = await failing(() => driver.set('on', patient(), 'op-1'));
    expect(error).toMatchObject({ code: 'refused', final: false });
    expect(error.message).toBe('mini-1: its BMC answered 409 (Base.1.18.InvalidOperationForSystemState)');
  });
});

describe('faults', () => {
  const both: readonly [string, (signal: AbortSignal) => Promise<unknown>][] = [
    ['read', (signal) => driver.read(signal)],
    ['set', (signal) => driver.set('on', signal, 'op-1')],
  ];
  const quick = () => AbortSignal.timeout(200);

  /** Known system, so that the first request is the one that matters. */
  beforeEach(async () => {
    driver = await driverOf(machineSpec(bmc.url, { options: { system: paths.system } }));
  });

  test.each(both)('%s: wrong credentials are final', async (_, call) => {
    fault('wrong-credentials');
    const error = await failing(() => call(patient()));
    expect(error).toMatchObject({ code: 'auth', final: true });
    expect(error.message).toContain('Update mini-1-bmc');
  });

  test.each(both)('%s: 503 is busy, with the time it asks for', async (_, call) => {
    fault('unavailable', { retryAfter: 7 });
    const error = await failing(() => call(patient()));
    expect(error).toMatchObject({ code: 'busy', final: false, retryAfterMs: 7000 });
  });

  test.each(both)('%s: a reset connection is unreachable', async (_, call) => {
    fault('drop');
    const error = await failing(() => call(patient()));
    expect(error).toMatchObject({ code: 'unreachable', final: false });
    expect(error.message).toContain(`${bmc.url} cannot be reached (ECONNRESET)`);
  });

  test.each(both)('%s: nobody there is unreachable', async (_, call) => {
    await bmc.close();
    const error = await failing(() => call(patient()));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
    bmc = await startBmc(machine);
  });

  const silences: readonly [FaultName, object][] = [
    ['hang', {}],
    ['half-open', {}],
    ['slow', { ms: 60_000 }],
    ['slow-drip', { ms: 50 }],
  ];
  test.each(silences.flatMap((silence) => both.map((call) => [...call, ...silence] as const)))(
    '%s: %s ends with the signal, as a time-out',
    async (_, call, name, options) => {
      fault(name, options);
      expect(await failing(() => call(quick()))).toMatchObject({ code: 'timeout', final: false });
    },
  );

  test('a command whose answer is lost is a time-out, though the BMC took it', async () => {
    const stop = new AbortController();
    const record = machine.record.bind(machine);
    // The read before the command is answered, the command is not.
    machine.record = (verb, accepted) => {
      record(verb, accepted);
      fault('half-open');
      setTimeout(() => stop.abort(), 100);
    };
    expect(await failing(() => driver.set('on', stop.signal, 'op-1'))).toMatchObject({ code: 'timeout' });
    expect(told()).toEqual(['On']);
    expect(machine.phase).toBe('powering-on');
  });

  test('a signal that is aborted already sends nothing', async () => {
    expect(await failing(() => driver.set('on', AbortSignal.abort(), 'op-1'))).toMatchObject({
      code: 'timeout',
    });
    expect(told()).toEqual([]);
  });
});
