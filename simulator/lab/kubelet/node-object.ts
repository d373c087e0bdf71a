import type { MachineDescription, Taint } from '../rack/description.ts';
import type { SimulatedMachine } from '../rack/machine.ts';

/** What a kubelet knows about the host it has just started on. */
export interface KubeletHost {
  name: string;
  address: string;
  arch: MachineDescription['arch'];
  capacity: Record<string, string>;
  labels: Record<string, string>;
  taints: Taint[];
  providerID?: string | undefined;
  systemUUID: string;
  machineID: string;
  /** New with every boot. */
  bootID: string;
}

export function hostOf({ description, identity, bootId }: SimulatedMachine): KubeletHost {
  const { name, arch, cpu, memory, pods, gpu, zone, labels, taints, providerID } = description;
  return {
    name,
    address: addressOf(identity.machineID),
    arch,
    capacity: {
      cpu: String(cpu),
      memory,
      pods: String(pods),
      'ephemeral-storage': '100Gi',
      ...(gpu > 0 && { 'nvidia.com/gpu': String(gpu) }),
    },
    labels: { ...(zone && { 'topology.kubernetes.io/zone': zone }), ...labels },
    taints,
    providerID,
    systemUUID: identity.systemUUID,
    machineID: identity.machineID,
    bootID: bootId ?? identity.machineID,
  };
}

/** An address of the lab's own: stable for a machine, never routed. */
function addressOf(machineID: string): string {
  const bytes = Buffer.from(machineID, 'hex');
  return `10.64.${bytes[0]}.${bytes[1]}`;
}

export const defaultLabels = (host: KubeletHost): Record<string, string> => ({
  'kubernetes.io/hostname': host.name,
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': host.arch,
  ...host.labels,
});

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

export function readyCondition(ready: boolean, at: string) {
  return {
    type: 'Ready',
    status: ready ? 'True' : 'False',
    reason: ready ? 'KubeletReady' : 'KubeletNotReady',
    message: ready ? 'kubelet is posting ready status' : 'node is shutting down',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}

export function nodeConditions(at: string) {
  const calm = pressures.map((type) => ({
    type,
    status: 'False',
    reason: `KubeletHasNo${type}`,
    message: `kubelet has no ${type}`,
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  }));
  return [...calm, readyCondition(true, at)];
}

export function nodeStatus(host: KubeletHost) {
  return {
    capacity: host.capacity,
    allocatable: host.capacity,
    addresses: [
      { type: 'InternalIP', address: host.address },
      { type: 'Hostname', address: host.name },
    ],
    nodeInfo: {
      architecture: host.arch,
      operatingSystem: 'linux',
      osImage: 'Lab Linux',
      kernelVersion: '6.12.0-lab',
      kubeletVersion: 'v1.36.4',
      kubeProxyVersion: '',
      containerRuntimeVersion: 'lab://1',
      systemUUID: host.systemUUID,
      machineID: host.machineID,
      bootID: host.bootID,
    },
  };
}

export function nodeObject(host: KubeletHost, annotations: Record<string, string>, status: object) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: host.name, labels: defaultLabels(host), annotations },
    spec: {
      ...(host.taints.length > 0 && { taints: host.taints }),
      ...(host.providerID && { providerID: host.providerID }),
    },
    status,
  };
}
