import { z } from 'zod';
import { type Bmc, startBmc } from '../../simulator/lab/rack/bmc.ts';
import { manualClock } from '../../simulator/lab/rack/clock.ts';
import { type FaultName, faults } from '../../simulator/lab/rack/faults.ts';
import { SimulatedMachine } from '../../simulator/lab/rack/machine.ts';
import { paths } from '../../simulator/lab/rack/resources.ts';

const second = 1000;
const credentials = { user: 'admin', password: 'secret' };
const basic = (password: string) => `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;

async function start() {
  const clock = manualClock(1_700_000_000_000);
  const machine = new SimulatedMachine(
    { name: 'm', cpu: 4, memory: '8Gi', bootSeconds: 90, shutdownSeconds: 20, credentials },
    clock,
  );
  const bmc: Bmc = await startBmc(machine);
  const call = async (
    method: string,
    path: string,
    body?: object,
    password = credentials.password,
    patience = 20_000,
  ) => {
    const response = await fetch(`${bmc.url}${path}`, {
      method,
      headers: { authorization: basic(password) },
      signal: AbortSignal.timeout(patience),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };
  return {
    clock,
    machine,
    bmc,
    call,
    system: (password?: string, patience?: number) =>
      call('GET', paths.system, undefined, password, patience),
    reset: (ResetType: string) => call('POST', paths.reset, { ResetType }),
    fault: (fault: FaultName, options: object = {}) => machine.faults.set({ fault, ...options }),
  };
}
type Lab = Awaited<ReturnType<typeof start>>;

/** One proof for each fault: a fault in the table without a row here does not compile, and fails below. */
const proofs: Record<FaultName, (lab: Lab) => Promise<void>> = {
  'ok-but-nothing-happens': async ({ clock, machine, reset, fault }) => {
    fault('ok-but-nothing-happens');
    expect((await reset('On')).status).toBe(204);
    clock.advance(1000 * second);
    expect(machine.phase).toBe('off');
    expect(machine.commands).toMatchObject([{ verb: 'On', accepted: true }]);
  },
  slow: async ({ machine, fault, system }) => {
    fault('slow', { ms: 60_000 });
    await expect(system(undefined, 150)).rejects.toThrow(/timeout/);
    machine.faults.clear();
    fault('slow', { ms: 5, times: 1 });
    expect((await system()).body.PowerState).toBe('Off');
    expect(machine.faults.list()).toEqual([]);
  },
  hang: async ({ fault, system }) => {
    fault('hang', { times: 1 });
    await expect(system(undefined, 150)).rejects.toThrow(/timeout/);
    expect((await system()).status).toBe(200);
  },
  drop: async ({ fault, system }) => {
    fault('drop', { times: 1 });
    await expect(system()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect((await system()).status).toBe(200);
  },
  'half-open': async ({ bmc, fault, system, reset }) => {
    fault('half-open', { times: 2 });
    const response = await fetch(`${bmc.url}/redfish/v1/`, { signal: AbortSignal.timeout(150) });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow(/timeout|abort/);
    await expect(
      fetch(`${bmc.url}${paths.reset}`, {
        method: 'POST',
        body: '{"ResetType":"On"}',
        headers: { authorization: basic('secret') },
        signal: AbortSignal.timeout(150),
      }),
    ).rejects.toThrow(/timeout/);
    expect((await system()).body.PowerState).toBe('PoweringOn');
    expect((await reset('ForceOff')).status).toBe(204);
  },
  'slow-drip': async ({ bmc, fault }) => {
    fault('slow-drip', { ms: 1, times: 1 });
    const response = await fetch(`${bmc.url}/redfish`);
    const chunks: string[] = [];
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk).toString());
    expect(JSON.parse(chunks.join(''))).toEqual({ v1: '/redfish/v1/' });
    expect(chunks.length).toBeGreaterThan(3);
  },
  unavailable: async ({ fault, system }) => {
    fault('unavailable', { retryAfter: 7, times: 1 });
    const answer = await system();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect((await system()).status).toBe(200);
  },
  task: async ({ clock, machine, call, reset, fault }) => {
    fault('task', { ms: 30 * second });
    const accepted = await reset('On');
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('retry-after')).toBe('1');
    const monitor = accepted.headers.get('location') ?? '';
    expect((await call('GET', monitor)).status).toBe(202);
    expect(machine.phase).toBe('off');
    clock.advance(30 * second);
    expect(machine.phase).toBe('powering-on');
    expect(await call('GET', monitor)).toMatchObject({ status: 200, body: { TaskState: 'Completed' } });
    fault('task', { ms: 30 * second, ends: 'Exception' });
    const failed = (await reset('ForceOff')).headers.get('location') ?? '';
    clock.advance(30 * second);
    expect(machine.phase).toBe('booting');
    expect((await call('GET', failed)).body.TaskState).toBe('Exception');
  },
  'wrong-credentials': async ({ fault, system }) => {
    fault('wrong-credentials');
    expect((await system()).status).toBe(401);
  },
  lockout: async ({ clock, fault, system }) => {
    fault('lockout', { after: 2, ms: 60 * second });
    expect((await system('guess')).status).toBe(401);
    expect((await system()).status).toBe(200);
    expect((await system('guess')).status).toBe(401);
    expect((await system('guess')).status).toBe(401);
    expect((await system()).status).toBe(401);
    clock.advance(60 * second);
    expect((await system()).status).toBe(200);
  },
  flapping: async ({ fault, system }) => {
    fault('flapping');
    const seen = [await system(), await system(), await system()].map(({ body }) => body.PowerState);
    expect(seen).toEqual(['On', 'Off', 'On']);
  },
  'wrong-machine': async ({ machine, fault, system }) => {
    fault('wrong-machine', { serial: 'X1' });
    const { body } = await system();
    expect(body.UUID).not.toBe(machine.identity.systemUUID);
    expect(body.SerialNumber).toBe('X1');
  },
  'late-soft-off': async ({ clock, machine, reset, fault }) => {
    fault('late-soft-off', { ms: 300 * second });
    machine.startBooted();
    await reset('GracefulShutdown');
    clock.advance(200 * second);
    expect(machine.phase).toBe('booted');
    await reset('ForceOff');
    await reset('On');
    clock.advance(95 * second);
    expect(machine.phase).toBe('booted');
    clock.advance(25 * second);
    expect(machine.phase).toBe('off');
  },
  'ignores-soft-off': async ({ clock, machine, reset, fault }) => {
    fault('ignores-soft-off');
    machine.startBooted();
    expect((await reset('GracefulShutdown')).status).toBe(204);
    clock.advance(1000 * second);
    expect(machine.phase).toBe('booted');
    await reset('ForceOff');
    expect(machine.phase).toBe('off');
  },
  'never-boots': async ({ clock, machine, reset, fault, system }) => {
    fault('never-boots');
    await reset('On');
    clock.advance(10_000 * second);
    expect((await system()).body).toMatchObject({
      PowerState: 'On',
      BootProgress: { LastState: 'OSBootStarted' },
    });
    machine.faults.clear('never-boots');
    clock.advance(90 * second);
    expect(machine.phase).toBe('booted');
  },
  'boots-slowly': async ({ clock, machine, reset, fault }) => {
    fault('boots-slowly', { factor: 3 });
    await reset('On');
    clock.advance(271 * second);
    expect(machine.phase).toBe('booting');
    clock.advance(1 * second);
    expect(machine.phase).toBe('booted');
  },
  'refuses-when-already': async ({ machine, reset, fault }) => {
    fault('refuses-when-already');
    expect((await reset('ForceOff')).status).toBe(409);
    fault('refuses-when-already', { status: 400 });
    expect((await reset('ForceOff')).body.error.code).toMatch(/InvalidOperationForSystemState$/);
    expect((await reset('On')).status).toBe(204);
    expect((await reset('On')).status).toBe(400);
    expect(machine.commands.map(({ accepted }) => accepted)).toEqual([false, false, true, false]);
  },
  'no-power-state': async ({ fault, system }) => {
    fault('no-power-state');
    expect((await system()).body).not.toHaveProperty('PowerState');
  },
  'stuck-powering-off': async ({ clock, machine, reset, fault, system }) => {
    fault('stuck-powering-off');
    machine.startBooted();
    await reset('ForceOff');
    clock.advance(10_000 * second);
    expect((await system()).body.PowerState).toBe('PoweringOff');
    machine.faults.clear();
    clock.advance(20 * second);
    expect(machine.phase).toBe('off');
  },
  unhealthy: async ({ call, fault, system }) => {
    fault('unhealthy', { celsius: 88 });
    expect((await system()).body.Status.Health).toBe('Critical');
    expect((await call('GET', paths.thermal)).body.Temperatures[0].ReadingCelsius).toBe(88);
  },
  'failed-part': async ({ call, fault, system }) => {
    fault('failed-part', { name: 'Fan 2', health: 'Warning' });
    expect((await system()).body.Status).toMatchObject({ Health: 'OK', HealthRollup: 'Warning' });
    const { Fans } = (await call('GET', paths.thermal)).body;
    expect(Fans.map(({ Status }: { Status: { Health: string } }) => Status.Health)).toEqual([
      'OK',
      'Warning',
    ]);
    fault('failed-part');
    const { PowerSupplies } = (await call('GET', paths.power)).body;
    expect(PowerSupplies[1]).toMatchObject({ Name: 'PSU 2', Status: { Health: 'Critical' } });
  },
  logged: async ({ call, fault }) => {
    fault('logged', { message: 'CPU 1: thermal trip' });
    expect((await call('GET', paths.log)).body).toMatchObject({ LogEntryType: 'SEL' });
    expect((await call('GET', paths.logEntries)).body.Members).toMatchObject([
      { Id: '1', Severity: 'Critical', Message: 'CPU 1: thermal trip' },
    ]);
  },
  'no-session-free': async ({ call, fault }) => {
    const login = { UserName: credentials.user, Password: credentials.password };
    fault('no-session-free', { times: 1 });
    expect((await call('POST', paths.sessions, login)).status).toBe(503);
    expect((await call('POST', paths.sessions, login)).status).toBe(201);
  },
  'odd-etags': async ({ bmc, machine, fault, system }) => {
    const etag = (await system()).headers.get('etag') ?? '';
    const patch = async (ifMatch?: string) => {
      const { status } = await fetch(`${bmc.url}${paths.system}`, {
        method: 'PATCH',
        headers: { authorization: basic('secret'), ...(ifMatch && { 'if-match': ifMatch }) },
        body: JSON.stringify({ Boot: {} }),
      });
      return status;
    };
    const answers = async () => [await patch(etag), await patch(`W/${etag}`), await patch()];
    expect(await answers()).toEqual([200, 200, 200]);
    fault('odd-etags');
    expect(await answers()).toEqual([412, 200, 412]);
    fault('odd-etags', { wants: 'none' });
    expect(await answers()).toEqual([412, 412, 200]);
    fault('odd-etags', { wants: 'any' });
    expect(await answers()).toEqual([200, 200, 428]);
    expect(machine.commands.filter(({ accepted }) => !accepted)).toHaveLength(5);
  },
  'forgets-boot': async ({ machine, call, fault }) => {
    const Boot = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' };
    fault('forgets-boot', { times: 1 });
    expect((await call('PATCH', paths.system, { Boot })).status).toBe(200);
    expect(machine.bootOverride.BootSourceOverrideTarget).toBe('None');
    await call('PATCH', paths.system, { Boot });
    expect(machine.bootOverride.BootSourceOverrideTarget).toBe('Pxe');
  },
  maker: async ({ fault, system }) => {
    fault('maker', { manufacturer: 'HPE' });
    expect((await system()).body.Manufacturer).toBe('HPE');
  },
  'not-now': async ({ machine, fault, reset }) => {
    fault('not-now', { times: 1 });
    expect(await reset('On')).toMatchObject({
      status: 503,
      body: { error: { code: 'IDRAC.2.9.SYS518' } },
    });
    expect(machine.phase).toBe('off');
    expect((await reset('On')).status).toBe(204);
  },
  'drops-while-pending': async ({ clock, machine, reset, fault, system }) => {
    fault('drops-while-pending', { ms: 5 * second });
    machine.startBooted();
    await reset('ForceOff');
    expect((await system()).body.PowerState).toBe('On');
    expect((await reset('On')).status).toBe(204);
    clock.advance(500 * second);
    expect(machine.phase).toBe('off');
  },
};

test.each(Object.keys(faults) as FaultName[])('%s: as its row in the table says', async (name) => {
  const lab = await start();
  try {
    await proofs[name](lab);
  } finally {
    lab.machine.stop();
    await lab.bmc.close();
  }
});

test('a fault can be set for the next few times only', async () => {
  const lab = await start();
  lab.fault('unavailable', { times: 2 });
  const statuses = [await lab.system(), await lab.system(), await lab.system()].map(({ status }) => status);
  await lab.bmc.close();
  expect(statuses).toEqual([503, 503, 200]);
});

test('an unrelated fault does not start a running boot anew', async () => {
  const { clock, machine, bmc } = await start();
  machine.powerOn();
  clock.advance(50 * second);
  machine.faults.set({ fault: 'slow' });
  machine.faults.clear();
  clock.advance(42 * second);
  expect(machine.phase).toBe('booted');
  await bmc.close();
});

test('an unknown fault or option is refused by name', async () => {
  const { machine, bmc } = await start();
  await bmc.close();
  expect(() => machine.faults.set({ fault: 'gremlins' })).toThrow(z.ZodError);
  expect(() => machine.faults.set({ fault: 'slow', msec: 5 })).toThrow(/msec/);
  expect(machine.faults.list()).toEqual([]);
});
