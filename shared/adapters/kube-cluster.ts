import {
  ApiException,
  type Configuration,
  CoreV1Api,
  type KubeConfig,
  Observable,
  type ObservableMiddleware,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
} from '@kubernetes/client-node';
import type { Node, Pod } from '../core/cluster.ts';
import { type Clock, type Cluster, ClusterError, type NodeChange } from '../ports.ts';
import type { Log } from '../runtime/log.ts';
import { createCache } from './kube-cache.ts';
import { toNode, toPod } from './kube-convert.ts';
import { blockedBy, retryAfter, toClusterError } from './kube-errors.ts';

export interface KubeClusterOptions {
  readonly kubeConfig: KubeConfig;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a call may take. */
  readonly timeoutMs?: number;
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
}

const pageSize = 500;
const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** The cluster through @kubernetes/client-node: reads from a watched cache, writes directly. */
export function createKubeCluster(options: KubeClusterOptions): Cluster & { close(): void } {
  const { kubeConfig, clock, log, timeoutMs = 30_000 } = options;
  const api = kubeConfig.makeApiClient(
    class extends CoreV1Api {
      constructor(config: Configuration) {
        super({ ...config, middleware: [...config.middleware, deadline(timeoutMs)] });
      }
    },
  );
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
          return { kind: 'blocked', why: blockedBy(error), retryAfterMs: retryAfter(error) };
        throw toClusterError(error);
      }
    },
    close() {
      pods.close();
      nodes.close();
    },
  };
}

/** On a connection that has silently died a call would last for minutes, and a drain with it. */
const deadline = (ms: number): ObservableMiddleware => ({
  pre(request) {
    request.setSignal(AbortSignal.timeout(ms));
    return new Observable(Promise.resolve(request));
  },
  post: (response) => new Observable(Promise.resolve(response)),
});

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
