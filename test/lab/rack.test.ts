import { type Bmc, startBmc } from '../../simulator/lab/rack/bmc.ts';
import { manualClock, realClock } from '../../simulator/lab/rack/clock.ts';
import { makeMachines } from '../../simulator/lab/rack/description.ts';
import { type MachineHooks, SimulatedMachine } from '../../simulator/lab/rack/machine.ts';
import { startRack } from '../../simulator/lab/rack/rack.ts';
import { resetTypes } from '../../simulator/lab/rack/reset.ts';
import { paths } from '../../simulator/lab/rack/resources.ts';

const second = 1000;
const bmcs: Bmc[] = [];

async function start(hooks: MachineHooks = {}, sessionLimit = 8) {
  const clock = manualClock(1_700_000_000_000);
  const machine = new SimulatedMachine(
    {
      name: 'tower-1',
      cpu: 32,
      memory: '256Gi',
      watts: { idle: 80, max: 280, standby: 6 },
      bootSeconds: 90,
      shutdownSeconds: 20,
      rack: 'r1',
      credentials: { user: 'admin', password: 'secret' },
    },
    clock,
    hooks,
  );
  const bmc = await startBmc(machine, { sessionLimit });
  bmcs.push(bmc);
  const authorization = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${bmc.url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };
  const reset = (ResetType: string) => call('POST', paths.reset, { ResetType });
  const powerState = async () => (await call('GET', paths.system)).body.PowerState;
  return { bmc, clock, machine, call, reset, powerState };
}

afterEach(async () => {
  for (const bmc of bmcs.splice(0)) {
    bmc.machine.stop();
    await bmc.close();
  }
});

describe('a machine’s power', () => {
  test('goes off → powering on → booting → booted, and a soft-off brings it back to off', async () => {
    const seen: string[] = [];
    const { clock, call, reset, powerState } = await start({
      onBooted: () => seen.push('booted'),
      onShuttingDown: () => seen.push('shutting down'),
      onHalted: () => seen.push('halted'),
    });
    const bootState = async () => (await call('GET', paths.system)).body.BootProgress.LastState;

    expect(await powerState()).toBe('Off');
    expect((await reset('On')).status).toBe(204);
    expect(await powerState()).toBe('PoweringOn');
    clock.advance(2 * second);
    expect(await powerState()).toBe('On');
    expect(await bootState()).toBe('OSBootStarted');
    clock.advance(89 * second);
    expect(seen).toEqual([]);
    clock.advance(1 * second);
    expect(await bootState()).toBe('OSRunning');
    expect(seen).toEqual(['booted']);

    await reset('GracefulShutdown');
    expect(await powerState()).toBe('PoweringOff');
    clock.advance(19 * second);
    expect(seen).toEqual(['booted', 'shutting down']);
    clock.advance(1 * second);
    expect(await powerState()).toBe('Off');
    expect(seen).toEqual(['booted', 'shutting down', 'halted']);
  });

  test('ForceOff halts at once; every boot has its own boot id', async () => {
    const halted: string[] = [];
    const { clock, machine, reset, powerState } = await start({ onHalted: ({ name }) => halted.push(name) });
    await reset('On');
    clock.advance(200 * second);
    const first = machine.bootId;
    await reset('ForceOff');
    expect(await powerState()).toBe('Off');
    expect(halted).toEqual(['tower-1']);
    await reset('On');
    clock.advance(200 * second);
    expect(machine.bootId).toEqual(expect.any(String));
    expect(machine.bootId).not.toBe(first);
  });

  test('a soft-off asked for during the boot kills the machine just started', async () => {
    const { clock, reset, powerState } = await start();
    await reset('On');
    clock.advance(10 * second);
    await reset('GracefulShutdown');
    expect(await powerState()).toBe('On');
    clock.advance((82 + 20) * second);
    expect(await powerState()).toBe('Off');
  });

  test('On during a shutdown is accepted and lost', async () => {
    const { clock, machine, reset, powerState } = await start();
    machine.startBooted();
    await reset('GracefulShutdown');
    expect((await reset('On')).status).toBe(204);
    clock.advance(500 * second);
    expect(await powerState()).toBe('Off');
  });

  test.each(['ForceRestart', 'GracefulRestart', 'PowerCycle'])(
    '%s ends booted, with one halt between',
    async (type) => {
      const seen: string[] = [];
      const { clock, machine, reset } = await start({
        onBooted: () => seen.push('booted'),
        onHalted: () => seen.push('halted'),
      });
      machine.startBooted();
      await reset(type);
      clock.advance(200 * second);
      expect(seen).toEqual(['booted', 'halted', 'booted']);
      expect(machine.phase).toBe('booted');
    },
  );

  test('a person at the button is not the BMC, but is in the log', async () => {
    const { clock, machine, powerState } = await start();
    machine.pressButton('on');
    clock.advance(100 * second);
    expect(await powerState()).toBe('On');
    machine.pressButton('off');
    expect(await powerState()).toBe('Off');
    expect(machine.commands.map(({ verb }) => verb)).toEqual(['button-on', 'button-off']);
  });

  test('watts follow state and load', async () => {
    let load = 0;
    const { machine, call } = await start({ load: () => load });
    const watts = async () => (await call('GET', paths.power)).body.PowerControl[0].PowerConsumedWatts;
    expect(await watts()).toBe(6);
    machine.startBooted();
    expect(await watts()).toBe(80);
    load = 0.5;
    expect(await watts()).toBe(180);
    load = 7;
    expect(await watts()).toBe(280);
  });

  test('the command log keeps the last 200, refused ones marked', async () => {
    const { machine, reset } = await start();
    for (let i = 0; i < 250; i++) machine.reset('ForceOff');
    expect((await reset('Explode')).status).toBe(400);
    expect(machine.commands).toHaveLength(200);
    expect(machine.commands.at(-1)).toEqual({ at: 1_700_000_000_000, verb: 'Explode', accepted: false });
  });
});

describe('Redfish', () => {
  test('leads from the open root to a reset target without a guessed path', async () => {
    const { call, machine } = await start();
    const anonymous = { authorization: '' };
    const root = (await call('GET', '/redfish/v1/', undefined, anonymous)).body;
    expect((await call('GET', root.Systems['@odata.id'], undefined, anonymous)).status).toBe(401);
    const members = (await call('GET', root.Systems['@odata.id'])).body.Members;
    expect(members).toHaveLength(1);
    const system = (await call('GET', members[0]['@odata.id'])).body;
    expect(system).toMatchObject({
      UUID: machine.identity.systemUUID,
      SerialNumber: machine.identity.serialNumber,
      ProcessorSummary: { LogicalProcessorCount: 32 },
      MemorySummary: { TotalSystemMemoryGiB: 256 },
      Status: { Health: 'OK' },
    });
    const action = system.Actions['#ComputerSystem.Reset'];
    const info = (await call('GET', action['@Redfish.ActionInfo'])).body;
    expect(info.Parameters[0].AllowableValues).toEqual(resetTypes);
    const nic = (
      await call(
        'GET',
        (
          await call('GET', system.EthernetInterfaces['@odata.id'])
        ).body.Members[0]['@odata.id'],
      )
    ).body;
    expect(nic.MACAddress).toBe(machine.identity.macAddress);
    expect((await call('POST', action.target, { ResetType: 'On' })).status).toBe(204);
    expect(machine.phase).toBe('powering-on');
  });

  test('every link in every resource leads somewhere', async () => {
    const { call } = await start();
    const toVisit = ['/redfish/v1'];
    const visited = new Set<string>();
    for (let path = toVisit.pop(); path !== undefined; path = toVisit.pop()) {
      if (visited.has(path)) continue;
      visited.add(path);
      const { status, body } = await call('GET', path);
      expect({ path, status }).toEqual({ path, status: 200 });
      toVisit.push(
        ...[...JSON.stringify(body).matchAll(/"@odata.id":"([^"#]+)"/g)].map(([, link]) => link ?? ''),
      );
    }
    expect(visited.size).toBeGreaterThan(12);
  });

  test('a wrong password is a Redfish error, and so are a wrong path, method, body and reset', async () => {
    const { call, reset } = await start();
    const wrong = await call('GET', paths.system, undefined, { authorization: 'Basic eDp5' });
    expect(wrong.status).toBe(401);
    expect(wrong.body.error['@Message.ExtendedInfo'][0].MessageId).toMatch(/Unauthorized$/);
    expect((await call('GET', '/redfish/v1/Nowhere')).status).toBe(404);
    expect((await call('DELETE', paths.system)).status).toBe(405);
    expect((await call('POST', paths.reset, {})).body.error.code).toMatch(/ActionParameterMissing$/);
    expect((await reset('Nonsense')).body.error.code).toMatch(/ActionParameterNotSupported$/);
    expect((await call('PATCH', paths.system, { Boot: { BootSourceOverrideTarget: 'Floppy' } })).status).toBe(
      400,
    );
    expect((await call('POST', paths.reset, { long: 'x'.repeat(70_000) })).status).toBe(413);
  });

  test('sessions work like the password until deleted, and run out', async () => {
    const { call } = await start({}, 2);
    const anonymous = { authorization: '' };
    const login = () => call('POST', paths.sessions, { UserName: 'admin', Password: 'secret' }, anonymous);
    const first = await login();
    expect(first.status).toBe(201);
    const token = { ...anonymous, 'x-auth-token': first.headers.get('x-auth-token') ?? '' };
    expect((await call('GET', paths.system, undefined, token)).status).toBe(200);
    expect((await login()).status).toBe(201);
    expect((await login()).status).toBe(503);
    expect((await call('DELETE', first.headers.get('location') ?? '', undefined, token)).status).toBe(204);
    expect((await call('GET', paths.system, undefined, token)).status).toBe(401);
    expect((await login()).status).toBe(201);
    const wrong = await call('POST', paths.sessions, { UserName: 'admin', Password: 'guess' }, anonymous);
    expect(wrong.status).toBe(401);
  });

  test('a boot override needs a current ETag, serves one boot and is gone', async () => {
    const { clock, call, machine, reset } = await start();
    const { headers } = await call('GET', paths.system);
    const etag = headers.get('etag') ?? '';
    const boot = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } };
    expect((await call('PATCH', paths.system, boot, { 'if-match': '"old"' })).status).toBe(412);
    expect((await call('PATCH', paths.system, boot, { 'if-match': etag })).status).toBe(200);
    expect((await call('PATCH', paths.system, boot, { 'if-match': etag })).status).toBe(412);
    await reset('On');
    clock.advance(100 * second);
    expect(machine.bootedFrom).toBe('Pxe');
    expect((await call('GET', paths.system)).body.Boot.BootSourceOverrideEnabled).toBe('Disabled');
  });
});

describe('a rack', () => {
  test('starts its machines, those that are on as booted; same name, same identity', async () => {
    const booted: string[] = [];
    const options = { onBooted: ({ name }: SimulatedMachine) => booted.push(name), clock: realClock() };
    const inputs = makeMachines(3, { name: 'mini', cpu: 4 }).map((input, i) => ({ ...input, on: i === 1 }));
    const rack = await startRack(inputs, options);
    const identities = [...rack.machines.values()].map(({ machine }) => machine.identity);
    await rack.close();
    expect(booted).toEqual(['mini-2']);
    expect([...rack.machines.keys()]).toEqual(['mini-1', 'mini-2', 'mini-3']);
    expect(new Set(identities.map(({ systemUUID }) => systemUUID)).size).toBe(3);
    expect(identities[0]?.macAddress).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    const again = await startRack(inputs);
    await again.close();
    expect([...again.machines.values()].map(({ machine }) => machine.identity)).toEqual(identities);
  });

  test('refuses two machines of one name and leaves nothing behind', async () => {
    const twice = [...makeMachines(1), ...makeMachines(1)];
    await expect(startRack(twice)).rejects.toThrow('two machines are called machine-1');
  });
});
