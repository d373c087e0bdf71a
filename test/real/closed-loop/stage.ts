import type {
  V1DaemonSet,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
} from '@kubernetes/client-node';
import { createKubeCluster } from '../../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import type { ClusterView, Pod } from '../../../shared/core/cluster/cluster.ts';
import { realClock } from '../../../shared/process/clock.ts';
import { createLog } from '../../../shared/process/log.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { each } from '../scheduler/api.ts';
import { startBareScheduler } from '../scheduler/bare-scheduler.ts';
import { priorities } from './apps.ts';
import { namespace, notReady } from './objects.ts';

/** Objects of one kind are written together, in this order. */
interface Objects {
  readonly volumes?: readonly V1PersistentVolume[];
  readonly claims?: readonly V1PersistentVolumeClaim[];
  readonly daemonSets?: readonly V1DaemonSet[];
  readonly nodes?: readonly V1Node[];
  readonly pods?: readonly V1Pod[];
}

/** A cluster of kube-scheduler and objects, as our own adapter shows it. */
export interface Stage {
  create(objects: Objects): Promise<void>;
  /** The nodes take pods from now on. */
  open(nodes: readonly V1Node[]): Promise<void>;
  cordon(nodes: readonly string[]): Promise<void>;
  removePods(names: readonly string[]): Promise<void>;
  /** Deletes the pods and makes new ones in their place, as their controllers would. */
  replacePods(names: readonly string[]): Promise<void>;
  removeNodes(names: readonly string[]): Promise<void>;
  /** The view once `isDone` with it, or once the scheduler has refused what waits and nothing has changed for `calmMs`. */
  settled(calmMs: number, isDone?: (view: ClusterView) => boolean): Promise<ClusterView>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

const pathOf = {
  volumes: '/api/v1/persistentvolumes',
  claims: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
  daemonSets: `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
  nodes: '/api/v1/nodes',
  pods: `/api/v1/namespaces/${namespace}/pods`,
} as const satisfies Record<keyof Objects, string>;
const parts = Object.keys(pathOf) as (keyof Objects)[];
/** The API server guards them with a finalizer, and no controller is here to take it away. */
const guarded: readonly (keyof Objects)[] = ['volumes', 'claims'];

export async function startStage(): Promise<Stage> {
  await using cleanup = new AsyncDisposableStack();
  // The shortest patience that it can be given with pods that were refused.
  const scheduler = await startBareScheduler({ podInitialBackoffSeconds: 1, podMaxBackoffSeconds: 1 });
  cleanup.defer(() => scheduler.close());
  const { api } = scheduler;
  await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await api.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: 'default' },
  });
  for (const [name, value] of Object.entries(priorities))
    await api.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name },
      value,
      // Batch work waits; what is important takes the place of others, as is usual.
      preemptionPolicy: name === 'low' ? 'Never' : 'PreemptLowerPriority',
    });
  const there = Object.fromEntries(parts.map((part) => [part, new Set<string>()])) as Record<
    keyof Objects,
    Set<string>
  >;
  /** Pods as they were written, and the names of those that the scheduler has deleted since. */
  const written = new Map<string, V1Pod>();
  const preempted: string[] = [];
  const cluster = createKubeCluster({
    onPod(now, before) {
      if (!now && before && there.pods.delete(before.name)) preempted.push(before.name);
    },
    transport: kubeTransport(scheduler.kubeConfig),
    clock: realClock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  cleanup.defer(() => cluster.close());

  const remove = async (part: keyof Objects, names: readonly string[]): Promise<void> => {
    await each(names, async (name) => {
      there[part].delete(name);
      await api.call('DELETE', `${pathOf[part]}/${name}`, { gracePeriodSeconds: 0 }).catch((error: Error) => {
        // The scheduler was faster.
        if (!error.message.includes(': 404 ')) throw error;
      });
    });
  };
  const create = async (objects: Objects): Promise<void> => {
    for (const pod of objects.pods ?? []) written.set(pod.metadata?.name ?? '', pod);
    for (const part of parts)
      await each<NonNullable<Objects[typeof part]>[number]>(objects[part] ?? [], async (object) => {
        const name = object.metadata?.name ?? '';
        there[part].add(name);
        await api.call('POST', pathOf[part], object);
        if (guarded.includes(part))
          await api.call('PATCH', `${pathOf[part]}/${name}`, { metadata: { finalizers: null } });
      });
  };
  const makeAgain = (names: readonly string[]): Promise<void> =>
    create({ pods: names.map((name) => replacement(written.get(name), name)) });
  /** The view once it shows exactly what was written. Pods that the scheduler deleted to make room are made again. */
  const complete = async (): Promise<ClusterView | undefined> => {
    const view = await cluster.view();
    await makeAgain(preempted.splice(0));
    const isWhole = parts.every((part) => {
      const shown = view[part] ?? [];
      return shown.length === there[part].size && shown.every(({ name }) => there[part].has(name));
    });
    return isWhole ? view : undefined;
  };

  const owned = cleanup.move();
  return {
    create,
    open: (nodes) =>
      each(nodes, async ({ metadata, spec }) => {
        const taints = (spec?.taints ?? []).filter(({ key }) => key !== notReady.key);
        await api.call('PATCH', `${pathOf.nodes}/${metadata?.name}`, { spec: { taints } });
      }),
    cordon: (nodes) =>
      each(nodes, async (name) => {
        await api.call('PATCH', `${pathOf.nodes}/${name}`, { spec: { unschedulable: true } });
      }),
    removePods: (names) => remove('pods', names),
    async replacePods(names) {
      await remove('pods', names);
      await makeAgain(names);
    },
    removeNodes: (names) => remove('nodes', names),
    settled(calmMs, isDone = isBound) {
      let before = '';
      let since = performance.now();
      return waitFor(
        'kube-scheduler to have looked at every pod',
        async () => {
          const view = await complete();
          if (!view) return undefined;
          if (isDone(view)) return view;
          const waiting = view.pods.filter(({ node }) => !node);
          const state = stateOf(waiting);
          if (state !== before) since = performance.now();
          before = state;
          const judged = waiting.every(({ unschedulable }) => unschedulable !== undefined);
          if (!judged || performance.now() - since < calmMs) return undefined;
          return queued(await scheduler.metrics()) === 0 ? view : undefined;
        },
        { timeoutMs: 60_000, everyMs: 20 },
      );
    },
    async clear() {
      for (const part of parts) there[part].clear();
      written.clear();
      preempted.length = 0;
      const now = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };
      await Promise.all([...parts].reverse().map((part) => api.call('DELETE', pathOf[part], now)));
      await waitFor('the cluster to be empty', complete, { everyMs: 20 });
    },
    close: () => owned.disposeAsync(),
  };
}

const isBound = ({ pods }: ClusterView): boolean => pods.every(({ node }) => node !== undefined);

const stateOf = (waiting: readonly Pod[]): string =>
  waiting.map(({ name, unschedulable }) => `${name} ${unschedulable}`).join('\n');

/** The pod that a controller makes in place of one that is gone. */
function replacement(pod: V1Pod | undefined, name: string): V1Pod {
  if (!pod?.spec) throw new Error(`${name} is gone and was not written here`);
  const { nodeName: _, ...spec } = pod.spec;
  return { ...pod, metadata: { ...pod.metadata, name: `${name}-r` }, spec };
}

/** Pods that the scheduler is to look at, now or after a pause. */
function queued(metrics: string): number {
  const rows = [...metrics.matchAll(/^scheduler_pending_pods\{queue="(active|backoff)"\} (\S+)/gm)];
  if (rows.length !== 2) throw new Error('the scheduler does not tell how many pods are queued');
  return rows.reduce((sum, [, , count]) => sum + Number(count), 0);
}
