import type { Deps } from '../../functions/deps.ts';
import { powerAction } from '../../functions/power-action/handler.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { requestPower } from '../../shared/by-hand/power.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { createInventory, type Inventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { realClock as labClock } from '../../simulator/lab/rack/clock.ts';
import { type Rack, startRack } from '../../simulator/lab/rack/rack.ts';
import { eventually } from '../../tools/support/eventually.ts';

/** A BMC of the lab over HTTP, the redfish driver, power-action and its own ticks; no cluster is needed. */
interface Bench {
  readonly rack: Rack;
  readonly store: Store;
  readonly inventory: Inventory;
  readonly deps: Deps;
}

const name = 'm-1';
let bench: Bench;
let stop: () => Promise<void>;

beforeEach(async () => {
  const rack = await startRack(
    [{ name, cpu: 4, memory: '16Gi', powerOnSeconds: 2, bootSeconds: 20, shutdownSeconds: 5 }],
    { clock: labClock(20) },
  );
  const found = rack.machines.get(name);
  if (!found) throw new Error('no machine');
  const store = await openStore('embedded:');
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    autoscaler: {
      timings: {
        bmcTimeout: '1s',
        readEvery: '50ms',
        sweepEvery: '200ms',
        commandEvery: '50ms',
        resendAfter: '300ms',
        softOffPatience: '1s',
        powerOnTimeout: '4s',
        powerOffTimeout: '6s',
        retryAfter: '1m',
      },
    },
    pools: [{ name: 'rack' }],
    machines: [
      {
        name,
        pool: 'rack',
        powerInterface: 'redfish',
        mgmtAddress: found.bmc.url,
        bmcCredentials: 'bmc',
        systemUUID: found.machine.identity.systemUUID,
        serialNumber: found.machine.identity.serialNumber,
        resources: { cpu: 4, memory: '16Gi' },
      },
    ],
  });
  const none = (): never => {
    throw new Error('no cluster here');
  };
  const { user: username, password } = found.machine.description.credentials;
  const credentials = async () => ({ username, password });
  const inventory = createInventory(store, realClock);
  const deps: Deps = {
    inventory,
    cluster: undefined as unknown as Deps['cluster'],
    driverFor: (spec) =>
      driverFor(spec, {
        credentials,
        resolve: async () => '127.0.0.1',
        nodeOf: none,
        jobs: { ensure: none, read: none, latest: none },
        clock: realClock,
      }),
    credentials,
    sink: { emit: async () => undefined },
    clock: realClock,
    log: createLog({ level: 'silent', format: 'json' }),
    failpoint: () => undefined,
    owner: 'test',
  };
  bench = { rack, store, inventory, deps };
  const handle = powerAction(deps);
  const stopping = new AbortController();
  const ticking = (async () => {
    while (!stopping.signal.aborted) {
      await handle({}, { trigger: 'test', id: 'test', signal: stopping.signal });
      await realClock.sleep(50, stopping.signal);
    }
  })();
  stop = async () => {
    stopping.abort();
    await ticking;
    await store.close();
    await rack.close();
  };
  await eventually(async () => expect((await status()).powerState).toBe('off'));
});
afterEach(() => stop());

const machine = () => {
  const found = bench.rack.machines.get(name);
  if (!found) throw new Error('no machine');
  return found.machine;
};
const status = async (): Promise<MachineStatus> => {
  const record = await bench.inventory.machine(name);
  if (!record) throw new Error('no record');
  return record.status;
};
const sent = (): string[] => machine().commands.map(({ verb }) => verb);
const powerOn = async (): Promise<void> => {
  const { inventory, deps } = bench;
  const { clock, owner } = deps;
  expect(await requestPower({ inventory, clock, owner }, name, { power: 'on' })).toMatchObject({ ok: true });
};
const inState = (state: string): Promise<void> =>
  eventually(async () => expect((await status()).state).toBe(state), 60_000);

test('on, as the BMC sees it: one command, verified', async () => {
  await powerOn();
  await inState('joining');
  expect(sent()).toEqual(['On']);
  expect(machine().powerState).toBe('On');
});

test('fault 13: BMC slow → a time-out means unknown; it goes on when the BMC answers again', async () => {
  machine().faults.set({ fault: 'hang' });
  await powerOn();
  await eventually(async () =>
    expect(await status()).toMatchObject({ powerState: 'unknown', bmcReachable: false }),
  );
  expect((await status()).state).toBe('powering-on');
  expect(sent()).toEqual([]);
  machine().faults.clear();
  await inState('joining');
  expect(sent()).toEqual(['On']);
});

test('fault 14: BMC flapping → not on before consecutive reads say so', async () => {
  machine().faults.set({ fault: 'flapping' });
  await powerOn();
  await inState('error');
  expect((await status()).lastError?.message).toMatch(/4 s after power-on was requested/);
});

test('fault 15: BMC says OK, nothing changes → verify, re-send, quarantine', async () => {
  machine().faults.set({ fault: 'ok-but-nothing-happens' });
  await powerOn();
  await inState('error');
  expect(sent().length).toBeGreaterThan(2);
  expect(new Set(sent())).toEqual(new Set(['On']));
  expect(await status()).toMatchObject({ attempts: 1, lastError: { code: 'power-on-failed' } });
});

test('fault 16: BMC of another machine → refused before any command', async () => {
  machine().faults.set({ fault: 'wrong-machine', serial: machine().identity.serialNumber });
  await powerOn();
  await inState('error');
  expect(sent()).toEqual([]);
  expect((await status()).lastError?.message).toMatch(/Correct mgmtAddress or systemUUID/);
});

test('fault 17: BMC 401 → one try, so that the account is not locked', async () => {
  machine().faults.set({ fault: 'lockout', after: 3 });
  let tries = 0;
  machine().faults.set({ fault: 'wrong-credentials' });
  const having = machine().faults.having.bind(machine().faults);
  machine().faults.having = (hook) => {
    if (hook === 'authenticate') tries += 1;
    return having(hook);
  };
  await powerOn();
  await inState('error');
  const soon = tries;
  await realClock.sleep(1_500);
  expect(soon).toBeLessThan(3);
  expect(tries).toBe(soon);
  expect((await status()).refused?.until).toBeGreaterThan(Date.now());
});

test('fault 31: a person presses the power button → adopted, not fought', async () => {
  machine().pressButton('on');
  await inState('joining');
  expect(sent()).toEqual(['button-on']);
});

test('hardware in a critical state is quarantined while it is off, and comes back when it is well', async () => {
  machine().faults.set({ fault: 'unhealthy' });
  await eventually(async () => expect((await status()).lastError?.code).toBe('unhealthy'), 60_000);
  machine().faults.clear();
  await inState('off');
});
