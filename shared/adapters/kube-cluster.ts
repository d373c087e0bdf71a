import {
  ApiException,
  CoreV1Api,
  type KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
} from '@kubernetes/client-node';
import type { Node, Pod } from '../core/cluster.ts';
import { type Clock, type Cluster, ClusterError, type NodeChange } from '../ports.ts';
import type { Log } from '../runtime/log.ts';
import { createCache } from './kube-cache.ts';
import { toNode, toPod } from './kube-convert.ts';

export interface KubeClusterOptions {
  readonly kubeConfig: KubeConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
}

const pageSize = 500;
const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** The cluster through @kubernetes/client-node: reads from a watched cache, writes directly. */
export function createKubeCluster(options: KubeClusterOptions): Cluster & { close(): void } {
  const { kubeConfig, clock, log } = options;
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const ignore = (): void => {};
  const pods = createCache({
    kubeConfig,
    clock,
    log,
    path: '/api/v1/pods',
    list: (_continue) => api.listPodForAllNamespaces({ limit: pageSize, ...(_continue && { _continue }) }),
    keep: toPod,
    onChange: options.onPod ?? ignore,
  });
  const nodes = createCache({
    kubeConfig,
    clock,
    log,
    path: '/api/v1/nodes',
    list: (_continue) => api.listNode({ limit: pageSize, ...(_continue && { _continue }) }),
    keep: toNode,
    onChange: options.onNode ?? ignore,
  });

  return {
    async view() {
      const [allPods, allNodes] = await Promise.all([pods.all(), nodes.all()]);
      return { pods: allPods, nodes: allNodes };
    },
    podsOn: (node) =>
      call(async () => {
        const found: V1Pod[] = [];
        let _continue: string | undefined;
        do {
          const page = await api.listPodForAllNamespaces({
            fieldSelector: `spec.nodeName=${node}`,
            limit: pageSize,
            ...(_continue && { _continue }),
          });
          found.push(...page.items);
          _continue = page.metadata?._continue;
        } while (_continue);
        return found.map(toPod);
      }),
    node: (name) =>
      call(async () => toNode(await api.readNode({ name }))).catch((error: unknown) => {
        if (error instanceof ClusterError && error.code === 'not-found') return undefined;
        throw error;
      }),
    changeNode: (name, change) =>
      call(async () => {
        await api.patchNode({ name, body: await nodePatch(api, name, change) }, mergePatch);
      }),
    deleteNode: (name) =>
      call(async () => {
        await api.deleteNode({ name });
        return true;
      }).catch((error: unknown) => {
        if (error instanceof ClusterError && error.code === 'not-found') return false;
        throw error;
      }),
    async evict({ namespace, name, uid }) {
      try {
        await api.createNamespacedPodEviction({
          namespace,
          name,
          body: { metadata: { namespace, name }, deleteOptions: { preconditions: { uid } } },
        });
        return { kind: 'evicted' };
      } catch (error) {
        // 409: another pod has the name now, so the one we meant is gone.
        if (error instanceof ApiException && (error.code === 404 || error.code === 409))
          return { kind: 'gone' };
        if (error instanceof ApiException && error.code === 429)
          return { kind: 'blocked', why: statusMessage(error), retryAfterMs: retryAfter(error) };
        throw toClusterError(error);
      }
    },
    close() {
      pods.close();
      nodes.close();
    },
  };
}

/** Taints are a list: the patch names the version it was made from, so that nobody else's taint gets lost. */
async function nodePatch(api: CoreV1Api, name: string, change: NodeChange): Promise<object> {
  const { labels, annotations, unschedulable, providerID, taints } = change;
  const spec = { ...(unschedulable !== undefined && { unschedulable }), ...(providerID && { providerID }) };
  if (!taints || taints.length === 0) return { metadata: { labels, annotations }, spec };
  const node = await api.readNode({ name });
  const others = (node.spec?.taints ?? []).filter(
    (taint) => !taints.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return {
    metadata: { labels, annotations, resourceVersion: node.metadata?.resourceVersion },
    spec: { ...spec, taints: [...others, ...taints] },
  };
}

async function call<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw toClusterError(error);
  }
}

const codes: Readonly<Record<number, ClusterError['code']>> = {
  404: 'not-found',
  409: 'conflict',
  429: 'unavailable',
};

function toClusterError(error: unknown): ClusterError {
  if (!(error instanceof ApiException)) {
    const text = error instanceof Error ? error.message : String(error);
    return new ClusterError('unavailable', `the Kubernetes API server does not answer (${text})`);
  }
  const code = codes[error.code] ?? (error.code >= 500 ? 'unavailable' : 'refused');
  return new ClusterError(code, `the Kubernetes API server answered ${error.code}: ${statusMessage(error)}`, {
    retryAfterMs: retryAfter(error),
  });
}

/** The body of an ApiException is the Status as text. */
function statusMessage(error: ApiException<unknown>): string {
  try {
    const status = JSON.parse(String(error.body)) as { message?: string };
    return status.message ?? String(error.body);
  } catch {
    // Not every proxy on the way answers JSON; its text is then the message.
    return String(error.body);
  }
}

function retryAfter(error: ApiException<unknown>): number | undefined {
  const seconds = Number(error.headers['retry-after']);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
