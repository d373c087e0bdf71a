import type {
  V1Namespace,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1StorageClass,
} from '@kubernetes/client-node';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { type Api, each } from './api.ts';
import { startBareScheduler } from './bare-scheduler.ts';
import { type Case, namespaces, withId } from './cases.ts';
import type { Served } from './engine.ts';
import { runtimeClass } from './pod-features.ts';

interface Verdict {
  readonly served: Served;
  /** What the scheduler said against it; undefined when it bound the pod to the target. */
  readonly refusal: string | undefined;
}

export interface Judge {
  /** Verdicts in the order of the cases; an Error for a case that the API server does not take. */
  judge(cases: readonly Case[]): Promise<(Verdict | Error)[]>;
  close(): Promise<void>;
}

/** kube-scheduler on nodes that are nothing but objects: no controller touches them, nothing runs on them. */
export async function startJudge(): Promise<Judge> {
  await using cleanup = new AsyncDisposableStack();
  const scheduler = await startBareScheduler({
    percentageOfNodesToScore: 100,
    // Where a pod may run is the question; nobody is here to make a volume for it.
    profiles: [
      { schedulerName: 'default-scheduler', plugins: { preBind: { disabled: [{ name: 'VolumeBinding' }] } } },
    ],
  });
  cleanup.defer(() => scheduler.close());
  const { api } = scheduler;

  await Promise.all(
    Object.entries(namespaces).map(async ([name, labels]) => {
      await api.call('POST', '/api/v1/namespaces', { metadata: { name, labels } });
      await api.call('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
    }),
  );
  await api.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
    metadata: { name: runtimeClass },
    handler: runtimeClass,
    overhead: { podFixed: { cpu: '250m', memory: '64Mi' } },
  });

  let rounds = 0;
  const owned = cleanup.move();
  return {
    async judge(cases) {
      rounds += 1;
      const round = rounds;
      const named = cases.map((one, index) => withId(one, `c${round}-${index}`));
      const refused = new Map<number, Error>();
      await each(named, async (one, index) => {
        try {
          await create(api, one);
        } catch (error) {
          refused.set(index, error as Error);
        }
      });
      const before = await readAll(api);
      await waitFor('the scheduler to know all nodes and pods', async () => {
        const seen = cacheSizes(await scheduler.metrics());
        return seen.nodes === before.nodes.length && seen.pods === before.pods.length ? true : undefined;
      });
      await each(named, async (one, index) => {
        if (refused.has(index)) return;
        try {
          await api.call('POST', `/api/v1/namespaces/${one.pod.metadata?.namespace}/pods`, one.pod);
        } catch (error) {
          refused.set(index, error as Error);
        }
      });
      const judged = await waitFor(
        'a verdict on every pod',
        async () => {
          const { items } = await api.call<List<V1Pod>>('GET', '/api/v1/pods?labelSelector=judged%3Dyes');
          return items.every((pod) => verdictOn(pod) !== undefined) ? items : undefined;
        },
        { timeoutMs: 180_000, everyMs: 300 },
      );
      const byCase = Map.groupBy(judged, caseId);
      const nodesOf = Map.groupBy(before.nodes, caseId);
      const podsOf = Map.groupBy(before.pods, caseId);
      const volumesOf = Map.groupBy(before.volumes, caseId);
      const claimsOf = Map.groupBy(before.claims, caseId);
      const verdicts = named.map((one, index): Verdict | Error => {
        const problem = refused.get(index);
        if (problem) return problem;
        const id = `c${round}-${index}`;
        const [pod] = byCase.get(id) ?? [];
        const target = one.nodes[one.target]?.metadata?.name ?? '';
        if (!pod) return new Error(`the judged pod of ${id} is gone`);
        const verdict = verdictOn(pod);
        if (verdict?.node && verdict.node !== target)
          return new Error(`${id} went to ${verdict.node}, which has no room`);
        return {
          refusal: verdict?.node ? undefined : (verdict?.message ?? ''),
          served: {
            // The others are full in the cluster, so that the scheduler has to answer for the target.
            nodes: nodesOf.get(id) ?? [],
            pods: podsOf.get(id) ?? [],
            volumes: volumesOf.get(id) ?? [],
            claims: claimsOf.get(id) ?? [],
            storageClasses: before.storageClasses.filter(({ metadata }) =>
              metadata?.name?.endsWith(`.${id}`),
            ),
            namespaces: before.namespaces,
            judged: pod,
            target,
          },
        };
      });
      await clear(api);
      return verdicts;
    },
    close: () => owned.disposeAsync(),
  };
}

interface List<Item> {
  readonly items: Item[];
}

const caseId = ({ metadata }: { metadata?: { labels?: Record<string, string> } }): string =>
  metadata?.labels?.case ?? '';

async function create(api: Api, one: Case): Promise<void> {
  for (const storageClass of one.storageClasses)
    await api.call('POST', '/apis/storage.k8s.io/v1/storageclasses', storageClass);
  for (const volume of one.volumes) {
    await api.call('POST', '/api/v1/persistentvolumes', volume);
    await api.call('PATCH', `/api/v1/persistentvolumes/${volume.metadata?.name}/status`, {
      status: volume.status,
    });
  }
  for (const claim of one.claims) {
    const claims = `/api/v1/namespaces/${claim.metadata?.namespace}/persistentvolumeclaims`;
    await api.call('POST', claims, claim);
    await api.call('PATCH', `${claims}/${claim.metadata?.name}/status`, { status: claim.status });
  }
  for (const [index, node] of one.nodes.entries()) {
    const size = index === one.target ? node.status?.allocatable : { ...node.status?.allocatable, pods: '0' };
    const conditions = [{ type: 'Ready', status: 'True' }];
    await api.call('POST', '/api/v1/nodes', {
      ...node,
      status: { allocatable: size, capacity: size, conditions },
    });
  }
  for (const { terminating, ...pod } of one.running) {
    const pods = `/api/v1/namespaces/${pod.metadata?.namespace}/pods`;
    await api.call('POST', pods, pod);
    // No kubelet lets it go: it stays as it is while it ends.
    if (terminating) await api.call('DELETE', `${pods}/${pod.metadata?.name}`);
  }
}

async function readAll(api: Api) {
  const list = async <Item>(path: string): Promise<Item[]> => (await api.call<List<Item>>('GET', path)).items;
  const [nodes, pods, all, volumes, claims, storageClasses] = await Promise.all([
    list<V1Node>('/api/v1/nodes'),
    list<V1Pod>('/api/v1/pods'),
    list<V1Namespace>('/api/v1/namespaces'),
    list<V1PersistentVolume>('/api/v1/persistentvolumes'),
    list<V1PersistentVolumeClaim>('/api/v1/persistentvolumeclaims'),
    list<V1StorageClass>('/apis/storage.k8s.io/v1/storageclasses'),
  ]);
  return { nodes, pods, namespaces: all, volumes, claims, storageClasses };
}

async function clear(api: Api): Promise<void> {
  const now = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };
  await Promise.all(
    Object.keys(namespaces).map((name) => api.call('DELETE', `/api/v1/namespaces/${name}/pods`, now)),
  );
  await api.call('DELETE', '/api/v1/nodes', now);
}

function verdictOn(pod: V1Pod): { readonly node?: string; readonly message?: string } | undefined {
  if (pod.spec?.nodeName) return { node: pod.spec.nodeName };
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  return { message: `${scheduled.reason}: ${scheduled.message ?? ''}` };
}

function cacheSizes(metrics: string): { readonly nodes: number; readonly pods: number } {
  const size = (type: string): number =>
    Number(
      new RegExp(`^scheduler_(?:scheduler_)?cache_size\\{type="${type}"\\} (\\S+)`, 'm').exec(metrics)?.[1],
    );
  return { nodes: size('nodes'), pods: size('pods') };
}
