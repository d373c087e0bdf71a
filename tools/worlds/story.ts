import { openStore } from '../../shared/adapters/store/open-store.ts';
import { realClock } from '../../shared/process/clock.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { createInventory, type Inventory } from '../../shared/state/inventory.ts';
import { labConfig } from '../../simulator/lab/config.ts';
import { type Lab, type LabOptions, startLab } from '../../simulator/lab/lab.ts';
import { eventually } from '../support/eventually.ts';
import {
  type HostFiles,
  type HostOptions,
  type HostProcess,
  startHostProcess,
  writeHostFiles,
} from '../support/host-process.ts';
import { type Workloads, workloadsOf } from './workload.ts';

/** Two machines with room for one `web` pod each, and a little more. */
export const machines: LabOptions['machines'] = ['m-1', 'm-2'].map((name) => ({
  name,
  cpu: 4,
  memory: '16Gi',
  bootSeconds: 40,
  shutdownSeconds: 10,
  pool: 'rack',
}));

export const storyConfig: Partial<ConfigInput> = {
  // A BMC that a busy machine made late is no reason to wait for minutes.
  autoscaler: { cooldowns: { afterFailure: '0s' } },
  pools: [
    {
      name: 'rack',
      limits: { maxNodes: 2 },
      scaleDown: { unneededFor: '1s', drainTimeout: '60s' },
      provisionTimeout: '90s',
    },
  ],
};

export interface World {
  readonly lab: Lab;
  readonly people: Workloads;
  readonly files: HostFiles;
  /** The commands each BMC was given, in order. */
  commands(machine: string): string[];
  /** A host of its own for the world; killed with it at the latest. */
  startHost(store: string, options?: HostOptions): Promise<HostProcess>;
  close(): Promise<void>;
}

/** A rack, a cluster that its machines join, and the files of a host for them. */
export async function startWorld(
  options: Partial<LabOptions> & {
    readonly namespace?: string;
    readonly config?: Partial<ConfigInput> | ((lab: Lab) => Promise<Partial<ConfigInput>>);
  } = {},
): Promise<World> {
  const { namespace = 'story', config = storyConfig, ...labOptions } = options;
  const lab = await startLab({ machines, speed: 40, ...labOptions });
  const people = workloadsOf(lab.kubeconfig, namespace);
  await people.createNamespace();
  const inventory = lab.inventory();
  const described = typeof config === 'function' ? await config(lab) : config;
  const files = await writeHostFiles(labConfig(inventory, described), lab.kubeconfig, inventory);
  const hosts: HostProcess[] = [];
  return {
    lab,
    people,
    files,
    async startHost(store, hostOptions) {
      const host = await startHostProcess(files, store, hostOptions);
      hosts.push(host);
      return host;
    },
    commands: (machine) => (lab.machines.get(machine)?.machine.commands ?? []).map(({ verb }) => verb),
    async close() {
      for (const host of hosts) host.kill('SIGKILL');
      await Promise.all(hosts.map(({ ended }) => ended));
      await lab.stop();
      await files.remove();
    },
  };
}

/**
 * Pods cannot be scheduled → power-on at the BMC → nodes join → pods run → the load ends → cordon, evict, off
 * at the BMC → the last pods go → everything is off.
 */
export async function playStory({ lab, people }: World): Promise<void> {
  const power = (): string[] => [...lab.machines.values()].map(({ machine }) => machine.powerState);
  await people.deploy('web', 2, { cpu: '3', memory: '1Gi' });
  await eventually(async () => expect(await people.running('web')).toEqual(['m-1', 'm-2']), 60_000);
  expect(power()).toEqual(['On', 'On']);

  // One fits beside each web, but not two: every machine has a pod that must be moved before it may go.
  await people.deploy('side', 2, { cpu: '800m', memory: '1Gi' });
  await eventually(async () => expect(await people.running('side')).toEqual(['m-1', 'm-2']), 60_000);
  await people.scale('web', 0);
  await eventually(() => expect(power().toSorted()).toEqual(['Off', 'On']), 60_000);
  await eventually(async () => {
    const [stays] = [...lab.machines.values()].filter(({ machine }) => machine.powerState === 'On');
    expect(await people.running('side')).toEqual([stays?.machine.name, stays?.machine.name]);
  }, 60_000);

  await people.scale('side', 0);
  await eventually(() => expect(power()).toEqual(['Off', 'Off']), 60_000);
  await eventually(async () => expect(await people.nodes()).toEqual(['control-1']), 60_000);
}

/** Reads the inventory while nobody else has the embedded store open. */
export async function readInventory<Value>(
  store: string,
  read: (inventory: Inventory) => Promise<Value>,
): Promise<Value> {
  const opened = await openStore(store, { readOnly: true });
  try {
    return await read(createInventory(opened, realClock));
  } finally {
    await opened.close();
  }
}
