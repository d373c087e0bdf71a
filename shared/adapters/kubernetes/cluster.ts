import type { V1Node, V1Pod } from '@kubernetes/client-node';
import type { ClusterView, Node, Pod } from '../../core/cluster/cluster.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Cluster, ClusterError, type NodeChange } from '../../ports/cluster.ts';
import { type ViewPart, viewParts } from '../../ports/view-parts.ts';
import type { Log } from '../../process/log.ts';
import { createCache } from './cache.ts';
import { createKubeClient } from './client.ts';
import { toNode, toPod } from './convert.ts';
import { blockedBy, retryAfter, toClusterError } from './errors.ts';
import { createEventRecorder } from './events.ts';
import { rawLists } from './list.ts';
import type { KubeApis } from './operations.ts';
import { createShare } from './share.ts';
import { watchSurroundings } from './surroundings.ts';
import { ApiException, type KubeTransport } from './transport.ts';

export interface KubeClusterOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a call may take; a read never more than ten seconds. */
  readonly timeoutMs?: number;
  /** The parts of the view; all by default. Nodes are always included. */
  readonly watches?: readonly ViewPart[] | undefined;
  readonly onPod?: (now: Pod | undefined, before: Pod | undefined) => void;
  readonly onNode?: (now: Node | undefined, before: Node | undefined) => void;
}

const pageSize = 500;

/** Maximum number of tries for a node that changes concurrently. */
const mostTries = 5;
const longestReadMs = 10_000;

/** The cluster through its API: reads from a watched cache, writes directly. */
export function createKubeCluster(options: KubeClusterOptions): Cluster & { close(): void } {
  const { clock, log, timeoutMs = 30_000 } = options;
  const kube = createKubeClient(options.transport, {
    readMs: Math.min(timeoutMs, longestReadMs),
    writeMs: timeoutMs,
  });
  const { core: api, storage } = kube.apis;
  const ignore = (): void => {};
  const share = createShare();
  const rawList = rawLists(kube);
  const seesPods = options.watches?.includes('pods') ?? true;
  const pods = seesPods
    ? createCache({
        kube,
        clock,
        log,
        path: '/api/v1/pods',
        list: rawList<V1Pod>('/api/v1/pods', pageSize),
        keep: (pod) => toPod(pod, share),
        onChange: options.onPod ?? ignore,
      })
    : undefined;
  const nodes = createCache({
    kube,
    clock,
    log,
    path: '/api/v1/nodes',
    list: rawList<V1Node>('/api/v1/nodes', pageSize),
    keep: toNode,
    onChange: options.onNode ?? ignore,
  });
  const surroundings = watchSurroundings(kube, { clock, log, watches: options.watches });

  return {
    async view() {
      const [allPods, allNodes, others] = await Promise.all([pods?.all(), nodes.all(), surroundings.read()]);
      return withoutUnseen({ pods: allPods ?? [], nodes: allNodes, ...others }, options.watches);
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
        return found.map((pod) => toPod(pod));
      }),
    node: (name) =>
      call(async () => toNode(await api.readNode({ name }))).catch((error: unknown) => {
        if (error instanceof ClusterError && error.code === 'not-found') return undefined;
        throw error;
      }),
    changeNode: (name, change) =>
      call(async () => {
        for (let tries = 1; ; tries += 1)
          try {
            await api.patchNode({ name, body: await nodePatch(api, name, change) });
            return;
          } catch (error) {
            // The node changed meanwhile, as node controllers often write: the patch is built again.
            const conflict = error instanceof ApiException && error.code === 409;
            if (!conflict || tries === mostTries) throw error;
          }
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
        // What the server will not do for this pod, such as one with two budgets, must not end the whole drain.
        const answer = toClusterError(error);
        if (answer.code === 'refused' || (error instanceof ApiException && error.code === 500))
          return { kind: 'blocked', why: answer.message };
        throw answer;
      }
    },
    forceDelete: ({ namespace, name, uid }) =>
      call(async () => {
        await api.deleteNamespacedPod({
          namespace,
          name,
          body: { gracePeriodSeconds: 0, preconditions: { uid } },
        });
        return true;
      }).catch((error: unknown) => {
        // conflict: another pod has the name now.
        if (error instanceof ClusterError && (error.code === 'not-found' || error.code === 'conflict'))
          return false;
        throw error;
      }),
    volumesOn: (node) =>
      call(async () => {
        const { items } = await storage.listVolumeAttachment();
        return items
          .filter(({ spec }) => spec.nodeName === node)
          .map(({ spec, metadata }) => spec.source.persistentVolumeName ?? metadata?.name ?? '');
      }).catch((error: unknown) => {
        if (error instanceof ClusterError && error.code === 'refused') return undefined;
        throw error;
      }),
    recordEvent: createEventRecorder(kube.apis.events, clock, log),
    close() {
      pods?.close();
      nodes.close();
      surroundings.close();
      kube.close();
    },
  };
}

/** A part that is not watched must not look like an empty cluster: callers have to declare it. */
function withoutUnseen(view: ClusterView, watches: readonly ViewPart[] | undefined): ClusterView {
  for (const part of watches ? viewParts.filter((part) => part !== 'nodes' && !watches.includes(part)) : [])
    Object.defineProperty(view, part, {
      enumerable: false,
      get() {
        throw new ClusterError('refused', `this function does not see ${part}: see functions/permissions.ts`);
      },
    });
  return view;
}

/** Taints are a list: the patch has a resource version, so that concurrent changes are not lost. */
async function nodePatch(api: KubeApis['core'], name: string, change: NodeChange): Promise<object> {
  const { labels, annotations, unschedulable, providerID, taints = [], removeTaints = [] } = change;
  const spec = { ...(unschedulable !== undefined && { unschedulable }), ...(providerID && { providerID }) };
  if (taints.length === 0 && removeTaints.length === 0) return { metadata: { labels, annotations }, spec };
  const node = await api.readNode({ name });
  const others = (node.spec?.taints ?? []).filter(
    (taint) =>
      ![...taints, ...removeTaints].some(
        ({ key, effect = taint.effect }) => key === taint.key && effect === taint.effect,
      ),
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
