import type { KubeObject, Pod } from '../../simulator/lab/api/objects.ts';
import { nodes, pods } from '../../simulator/lab/api/resource-types.ts';
import type { Store } from '../../simulator/lab/api/store.ts';

/** What a node may be given besides a name; the rest has defaults. */
export interface NodeOptions {
  cpu?: string;
  memory?: string;
  pods?: string;
  labels?: Record<string, string>;
  taints?: { key: string; value?: string; effect: string }[];
  annotations?: Record<string, string>;
  providerID?: string;
  systemUUID?: string;
}

/** A Ready node as its kubelet would register it. */
export function nodeObject(name: string, options: NodeOptions = {}) {
  const { cpu = '4', memory = '8Gi', pods: most = '110', labels = {}, taints = [] } = options;
  const { annotations = {}, providerID, systemUUID } = options;
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels }, annotations },
    spec: { taints, ...(providerID && { providerID }) },
    status: {
      capacity: { cpu, memory, pods: most },
      allocatable: { cpu, memory, pods: most },
      ...(systemUUID && { nodeInfo: { systemUUID, bootID: '' } }),
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
      ],
    },
  };
}

/** The least a kubelet does: runs what it is given, ends Job pods, finishes deletions. Acts at once. */
export function runPods(store: Store): () => void {
  const queue = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const key = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.name}`;

  const act = (pod: Pod) => {
    const { namespace, name, deletionTimestamp } = pod.metadata;
    if (!pod.spec.nodeName || !store.get(nodes, undefined, pod.spec.nodeName)) return;
    if (deletionTimestamp) {
      store.delete(pods, namespace, name, { gracePeriodSeconds: 0 });
      return;
    }
    const running = pod.status.phase === 'Running';
    const ends = pod.spec.restartPolicy !== 'Always';
    if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed' || (running && !ends)) return;
    const phase = running ? 'Succeeded' : 'Running';
    const others = (pod.status.conditions ?? []).filter(({ type }) => type !== 'Ready');
    const conditions = [...others, { type: 'Ready', status: running ? 'False' : 'True' }];
    store.update(pods, { ...pod, status: { ...pod.status, phase, conditions } }, 'status');
  };

  const unsubscribe = store.subscribe(({ type, resource, object }) => {
    if (resource !== pods || type === 'DELETED') return;
    queue.add(key(object));
    timer ??= setTimeout(() => {
      timer = undefined;
      const all = [...queue];
      queue.clear();
      for (const one of all) {
        const [namespace, name = ''] = one.split('/');
        const pod = store.get(pods, namespace, name);
        if (pod) act(pod);
      }
    }, 1);
  });
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
}
