import { randomUUID } from 'node:crypto';
import { startApi } from './api/index.ts';
import type { Store } from './api/store.ts';
import { startControllers } from './controllers/index.ts';
import { accessFromKubeconfig } from './kubelet/kube-api.ts';
import { type Kubelets, startKubelets } from './kubelet/kubelets.ts';
import type { Log } from './kubelet/log.ts';
import { hostOf, type KubeletHost } from './kubelet/node-object.ts';
import type { RegistrarName } from './kubelet/registrar.ts';
import type { NodePlayer } from './liqo/virtual-nodes.ts';
import { type Liqo, type LiqoOptions, startLiqo } from './liqo.ts';
import type { BmcOptions } from './rack/bmc.ts';
import { realClock } from './rack/clock.ts';
import { startControl } from './rack/control.ts';
import type { MachineInput } from './rack/description.ts';
import type { SimulatedMachine } from './rack/machine.ts';
import { type Rack, startRack } from './rack/rack.ts';

export interface LabOptions {
  machines: MachineInput[];
  /** How many times faster than life machines boot, stop and run pods. */
  speed?: number;
  /** The text of a kubeconfig: use that cluster instead of the embedded API and its controllers. */
  kubeconfig?: string;
  /** Who plays the kubelets; kwok has to run beside the given cluster. */
  registrar?: RegistrarName;
  /** Of the embedded API; 0 is any free one, and so is it for the control endpoint. */
  port?: number;
  controlPort?: number;
  bmc?: Omit<BmcOptions, 'port'>;
  gracefulShutdown?: boolean;
  /** Neighbours that lend, and the Liqo that brings their nodes: only with the embedded API. */
  liqo?: Omit<LiqoOptions, 'player'>;
  log?: Log;
}

export interface Lab {
  /** Of the Kubernetes API. */
  url: string;
  kubeconfig: string;
  /** URL of the control endpoint. */
  control: string;
  machines: Rack['machines'];
  inventory(): InventoryEntry[];
  /** As asked for; absent otherwise. */
  liqo?: Liqo;
  /** The operating system of a machine hangs: its kubelet is not heard of any more, until it boots again. */
  hang(name: string): void;
  stop(): Promise<void>;
}

export type InventoryEntry = ReturnType<typeof inventoryEntry>;

const missedHeartbeats = 4;

/** Lab time between a node's heartbeats: as a kubelet has it, unless that were most of what the lab does. */
function heartbeatInterval(machines: number, speed: number): number {
  const shortestMs = Math.max(1000, machines * 5);
  return Math.max(10_000, shortestMs * speed);
}

/** Machines with BMCs, their kubelets, and a Kubernetes API they join: a data centre in one process. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const { speed = 1, log = () => {} } = options;
  const clock = realClock(speed);
  const heartbeatMs = heartbeatInterval(options.machines.length, speed);
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    let { kubeconfig } = options;
    let store: Store | undefined;
    if (kubeconfig === undefined) {
      const api = await startApi({ port: options.port ?? 0, clock, log });
      stops.push(() => api.close());
      const controllers = startControllers(api, { nodeGraceMs: heartbeatMs * missedHeartbeats, log });
      stops.push(() => controllers.stop());
      kubeconfig = api.kubeconfig();
      store = api.store;
    }
    const access = accessFromKubeconfig(kubeconfig);
    const kubelets = startKubelets(access, {
      clock,
      log,
      heartbeatMs,
      registrar: options.registrar ?? 'kubelet',
      gracefulShutdown: options.gracefulShutdown ?? false,
    });
    stops.push(() => kubelets.stop());

    const liqo =
      options.liqo && store && startLiqo(store, { ...options.liqo, player: virtualKubelets(kubelets) });
    if (liqo) stops.push(() => liqo.stop());

    const joining = [kubelets.booted(controlPlane())];
    const rack = await startRack(options.machines, {
      clock,
      ...(options.bmc && { bmc: options.bmc }),
      onBooted: (machine) => joining.push(kubelets.booted(hostOf(machine))),
      onShuttingDown: ({ name }) => kubelets.shuttingDown(name),
      onHalted: ({ name }) => kubelets.halted(name),
      load: ({ name }) => kubelets.load(name),
    });
    stops.push(() => rack.close());
    await Promise.all(joining);
    const control = await startControl(rack, options.controlPort);
    stops.push(() => control.close());

    return {
      url: access.url,
      kubeconfig,
      control: control.url,
      machines: rack.machines,
      inventory: () =>
        [...rack.machines.values()].map(({ machine, bmc }) => inventoryEntry(machine, bmc.url)),
      ...(liqo && { liqo }),
      hang: (name) => kubelets.halted(name),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What an autoscaler has to be told about one machine. */
function inventoryEntry({ description, identity }: SimulatedMachine, mgmtAddress: string) {
  const { name, cpu, memory, gpu, watts, rack, zone, pool, labels, taints, bootSeconds, credentials } =
    description;
  return {
    name,
    powerInterface: 'redfish' as const,
    mgmtAddress,
    systemUUID: identity.systemUUID,
    macAddress: identity.macAddress,
    resources: { cpu, memory, gpu },
    watts: { idle: watts.idle, max: watts.max },
    rack,
    zone,
    pool,
    labels,
    taints,
    bootSeconds,
    credentials,
  };
}

/** A virtual kubelet runs pods like any other; one whose provider is silent is not heard of either. */
const virtualKubelets = (kubelets: Kubelets): NodePlayer => ({
  join: (host) => void kubelets.booted(host),
  silence: (name) => kubelets.halted(name),
  leave: (name) => kubelets.halted(name),
});

/** Not a machine of the rack: nobody may power off the node that runs the API. */
function controlPlane(): KubeletHost {
  const role = 'node-role.kubernetes.io/control-plane';
  return {
    name: 'control-1',
    address: '10.64.255.1',
    arch: 'amd64',
    capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' },
    labels: { [role]: '' },
    taints: [{ key: role, effect: 'NoSchedule' }],
    systemUUID: '00000000-0000-4000-8000-000000000001',
    machineID: '00000000000040008000000000000001',
    bootID: randomUUID(),
  };
}
