import type { Deps } from '../../functions/deps.ts';
import { powerAction } from '../../functions/power-action/handler.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { LogReading } from '../../shared/core/machine/hardware-log.ts';
import type { MachineSpec, PowerVerb } from '../../shared/core/machine/machine.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Credentials, PowerDriver, PowerReading, Sensors } from '../../shared/ports/power.ts';
import type { Store } from '../../shared/ports/store.ts';
import type { FailpointName } from '../../shared/process/failpoints.ts';
import type { Log } from '../../shared/process/log.ts';
import { createLog } from '../../shared/process/log.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

/** A machine as its driver sees it. Tests change what it does. */
export interface Scripted {
  power: PowerReading['power'];
  exists: boolean;
  identity: Omit<PowerReading, 'power' | 'exists'>;
  can: Partial<PowerDriver['capabilities']>;
  sensors: Sensors | undefined;
  log: LogReading | undefined;
  /** Before every call; may throw, or wait. */
  onCall: (what: string, signal: AbortSignal) => Promise<void> | void;
  /** What a command does: by default it has its effect at once. */
  obey: (verb: PowerVerb) => void;
  readonly calls: { readonly what: string; readonly at: number }[];
}

export interface Process {
  readonly deps: Deps;
  /** One tick, or one machine's turn, to its end. */
  tick(machine?: string): Promise<Record<string, string>>;
  ask(input: object): Promise<unknown>;
}

export interface World {
  readonly store: Store;
  readonly clock: VirtualClock;
  readonly machines: Map<string, Scripted>;
  readonly emitted: BamelEvent[];
  /** Static messages of the log with the machine they are about. */
  readonly said: string[];
  credentials: Credentials;
  strays: (isKnown: (name: string) => boolean) => Promise<{ released: string[]; running: string[] }>;
  process(failpoint?: (name: FailpointName) => void): Process;
  record(name: string): Promise<MachineRecord>;
  /** Lets an operation begin, as an evaluation would. */
  begin(name: string, goal: 'on' | 'off'): Promise<string>;
  commands(name: string): string[];
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly machines?: readonly (Partial<NonNullable<ConfigInput['machines']>[number]> & { name: string })[];
  readonly autoscaler?: ConfigInput['autoscaler'];
  readonly pools?: ConfigInput['pools'];
}

/** power-action on a real store, with machines that do as they are told to and a clock that never waits. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const store = await openStore('embedded:');
  const clock = createVirtualClock();
  const described = (options.machines ?? [{ name: 'm-1' }]).map((machine) => ({
    pool: 'rack',
    powerInterface: 'redfish',
    resources: { cpu: 4, memory: '16Gi' },
    ...machine,
  }));
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    autoscaler: options.autoscaler ?? {},
    pools: options.pools ?? [{ name: 'rack' }],
    machines: described,
  });
  const machines = new Map(described.map(({ name }) => [name, scripted()]));
  const inventory = createInventory(store, clock);
  const emitted: BamelEvent[] = [];
  const said: string[] = [];
  const silent = createLog({ level: 'silent', format: 'json' });
  const hear = (fields: { machine?: string }, message: string): void => {
    said.push(`${fields.machine ?? ''} ${message}`.trim());
  };
  const log = { ...silent, debug: () => undefined, info: hear, warn: hear, error: hear } as unknown as Log;

  const scriptedDriver = (spec: MachineSpec): PowerDriver => {
    const machine = find(machines, spec.name);
    const called = async (what: string, signal: AbortSignal): Promise<void> => {
      machine.calls.push({ what, at: clock.now() });
      await machine.onCall(what, signal);
    };
    return {
      capabilities: {
        status: true,
        softOff: true,
        hardOff: true,
        bootFromNetwork: true,
        sensors: machine.sensors !== undefined,
        ...machine.can,
      },
      async read(signal) {
        await called('read', signal);
        const there = spec.made ? { exists: machine.exists } : {};
        return { power: machine.exists ? machine.power : 'off', ...machine.identity, ...there };
      },
      async set(verb, signal) {
        await called(verb, signal);
        machine.obey(verb);
      },
      async bootFromNetwork(signal) {
        await called('boot-from-network', signal);
      },
      async sense(signal) {
        await called('sense', signal);
        return machine.sensors ?? { health: 'unknown', problems: [] };
      },
      ...(machine.log && {
        async readLog(after: string | undefined, signal: AbortSignal) {
          await called(`log after ${after ?? 'nothing'}`, signal);
          return machine.log;
        },
      }),
      async release(signal) {
        await called('release', signal);
        machine.exists = false;
      },
    };
  };

  const world: World = {
    store,
    clock,
    machines,
    emitted,
    said,
    credentials: { username: 'admin', password: 'secret' },
    strays: async () => ({ released: [], running: [] }),
    process(failpoint = () => undefined) {
      const deps: Deps = {
        inventory,
        cluster: undefined as unknown as Cluster,
        driverFor: async (spec) => scriptedDriver(spec),
        credentials: async () => world.credentials,
        releaseOrphans: (_pool, _provider, isKnown) => world.strays(isKnown),
        sink: { emit: async (event) => void emitted.push(event) },
        clock,
        log,
        failpoint,
        owner: 'test',
      };
      const handle = powerAction(deps);
      const invoke = async (input: object) => {
        const { signal } = new AbortController();
        const outcome = await clock.run(handle(input, { trigger: 'test', id: 'test', signal }));
        if (outcome.kind !== 'done') throw new Error(outcome.why);
        return outcome.answer;
      };
      return {
        deps,
        ask: invoke,
        tick: async (machine) =>
          ((await invoke(machine === undefined ? {} : { machine })) as { machines: Record<string, string> })
            .machines,
      };
    },
    async record(name) {
      const found = await inventory.machine(name);
      if (!found) throw new Error(`there is no machine ${name}`);
      return found;
    },
    async begin(name, goal) {
      const lease = await store.acquire('test', 60_000, 'test');
      if (!lease) throw new Error('no lease');
      const record = await world.record(name);
      const operation = `op-${name}-${goal}-${clock.now()}`;
      const result = await applyEvent(inventory, record, {
        event: { type: goal === 'on' ? 'power-on-requested' : 'cut-requested', operation },
        by: 'test',
        why: 'a test',
        begins: {
          id: operation,
          machine: name,
          goal,
          why: 'a test',
          spec: record.input,
          createdAt: clock.now(),
          commands: [],
        },
        lease,
        settings: await inventory.settings(),
        now: clock.now(),
      });
      await lease.release();
      if (result.kind !== 'changed') throw new Error(JSON.stringify(result));
      return operation;
    },
    commands: (name) =>
      find(machines, name)
        .calls.map(({ what }) => what)
        .filter((what) => !['read', 'sense'].includes(what) && !what.startsWith('log')),
    close: () => store.close(),
  };
  return world;
}

function scripted(): Scripted {
  const machine: Scripted = {
    power: 'off',
    exists: true,
    identity: {},
    can: {},
    sensors: undefined,
    log: undefined,
    onCall: () => undefined,
    obey(verb) {
      machine.power = verb === 'on' ? 'on' : 'off';
      if (verb === 'on') machine.exists = true;
    },
    calls: [],
  };
  return machine;
}

export function find<Value>(map: ReadonlyMap<string, Value>, name: string): Value {
  const value = map.get(name);
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}

/** Ticks until the check holds, with time passing between them. */
export async function tickUntil(
  { clock }: World,
  process: Process,
  check: () => boolean | Promise<boolean>,
  everyMs = 10_000,
): Promise<void> {
  for (let ticks = 0; ticks < 200; ticks += 1) {
    await process.tick();
    if (await check()) return;
    clock.pass(everyMs);
  }
  throw new Error('200 ticks were not enough');
}
