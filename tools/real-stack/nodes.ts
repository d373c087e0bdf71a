import {
  CoreV1Api,
  type KubeConfig,
  type V1Node,
  type V1NodeSystemInfo,
  type V1Taint,
} from '@kubernetes/client-node';
import { waitFor } from './wait.ts';

export type NodeOptions = {
  readonly cpu?: string | number;
  readonly memory?: string;
  readonly pods?: string | number;
  readonly labels?: Record<string, string>;
  readonly taints?: V1Taint[];
  readonly annotations?: Record<string, string>;
  readonly providerID?: string;
  readonly systemUUID?: string;
  /** Extended resources, e.g. `nvidia.com/gpu`. */
  readonly resources?: Record<string, string>;
};

/** Makes a node whose kubelet is kwok, and waits until it is Ready and open for pods. */
export async function addNode(
  kubeConfig: KubeConfig,
  name: string,
  options: NodeOptions = {},
): Promise<V1Node> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const { cpu = 4, memory = '8Gi', pods = 110, labels, annotations, taints = [], providerID } = options;
  const size = { cpu: String(cpu), memory, pods: String(pods), ...options.resources };
  await core.createNode({
    body: {
      metadata: {
        name,
        labels: {
          'kubernetes.io/hostname': name,
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          ...labels,
        },
        annotations: { 'kwok.x-k8s.io/node': 'fake', ...annotations },
      },
      spec: { taints, ...(providerID && { providerID }) },
      status: {
        capacity: size,
        allocatable: size,
        ...(options.systemUUID && { nodeInfo: nodeInfo(options.systemUUID) }),
      },
    },
  });
  return waitFor(`node ${name} ready`, async () => {
    const node = await core.readNode({ name });
    // Every new node starts with this taint; the node-lifecycle controller takes it off a moment after Ready.
    const closed = node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready');
    return isReady(node) && !closed ? node : undefined;
  });
}

export async function removeNode(kubeConfig: KubeConfig, name: string): Promise<void> {
  await kubeConfig.makeApiClient(CoreV1Api).deleteNode({ name });
}

export function isReady(node: V1Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

// The API wants all fields; kwok fills those that are empty.
function nodeInfo(systemUUID: string): V1NodeSystemInfo {
  return {
    systemUUID,
    architecture: '',
    bootID: '',
    containerRuntimeVersion: '',
    kernelVersion: '',
    kubeProxyVersion: '',
    kubeletVersion: '',
    machineID: '',
    operatingSystem: '',
    osImage: '',
  };
}
