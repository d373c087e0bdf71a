import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import type { ClusterView } from '../../core/cluster/cluster.ts';
import type { Clock } from '../../ports/clock.ts';
import { ClusterError } from '../../ports/cluster.ts';
import type { ViewPart } from '../../ports/view-parts.ts';
import type { Log } from '../../process/log.ts';
import { type Cache, createCache } from './cache.ts';
import type { KubeClient } from './client.ts';
import { toBudget, toDaemonSet, toNamespace } from './convert.ts';
import { toClaim, toStorageClass, toVolume } from './storage.ts';

export type Surroundings = Omit<ClusterView, 'pods' | 'nodes'>;

interface Page {
  readonly limit: number;
  readonly _continue?: string;
}

const limit = 500;

/**
 * What decides about pods besides pods and nodes. A kind that we may not read is left out, and it is said so;
 * one that is not among those to be seen is not asked for.
 */
export function watchSurroundings(
  kube: KubeClient,
  {
    clock,
    log,
    watches,
  }: { readonly clock: Clock; readonly log: Log; readonly watches?: readonly ViewPart[] | undefined },
): { read(): Promise<Surroundings>; close(): void } {
  const { core, storage, apps, policy } = kube.apis;
  const watch = <Raw extends KubernetesObject, Kept>(
    part: ViewPart,
    path: string,
    list: (page: Page) => Promise<KubernetesListObject<Raw>>,
    keep: (raw: Raw) => Kept,
  ): Cache<Kept> | undefined => {
    if (watches && !watches.includes(part)) return undefined;
    return createCache({
      kube,
      clock,
      log,
      path,
      list: (_continue) => list({ limit, ...(_continue && { _continue }) }),
      keep: (raw) => keep(raw),
      onChange: () => {},
      optional: true,
    });
  };
  const caches = {
    daemonSets: watch(
      'daemonSets',
      '/apis/apps/v1/daemonsets',
      (page) => apps.listDaemonSetForAllNamespaces(page),
      toDaemonSet,
    ),
    namespaces: watch('namespaces', '/api/v1/namespaces', (page) => core.listNamespace(page), toNamespace),
    volumes: watch(
      'volumes',
      '/api/v1/persistentvolumes',
      (page) => core.listPersistentVolume(page),
      toVolume,
    ),
    claims: watch(
      'claims',
      '/api/v1/persistentvolumeclaims',
      (page) => core.listPersistentVolumeClaimForAllNamespaces(page),
      toClaim,
    ),
    storageClasses: watch(
      'storageClasses',
      '/apis/storage.k8s.io/v1/storageclasses',
      (page) => storage.listStorageClass(page),
      toStorageClass,
    ),
    budgets: watch(
      'budgets',
      '/apis/policy/v1/poddisruptionbudgets',
      (page) => policy.listPodDisruptionBudgetForAllNamespaces(page),
      toBudget,
    ),
  };
  return {
    async read() {
      const unread: string[] = [];
      const unlessRefused = async <Kept>(
        cache: Cache<Kept> | undefined,
      ): Promise<readonly Kept[] | undefined> => {
        try {
          return await cache?.all();
        } catch (error) {
          if (!(error instanceof ClusterError) || error.code !== 'refused') throw error;
          unread.push(error.message);
          return undefined;
        }
      };
      const [daemonSets, namespaces, volumes, claims, storageClasses, budgets] = await Promise.all([
        unlessRefused(caches.daemonSets),
        unlessRefused(caches.namespaces),
        unlessRefused(caches.volumes),
        unlessRefused(caches.claims),
        unlessRefused(caches.storageClasses),
        unlessRefused(caches.budgets),
      ]);
      return {
        daemonSets,
        namespaces,
        volumes,
        claims,
        storageClasses,
        budgets,
        unread: unread.length > 0 ? unread.sort() : undefined,
      };
    },
    close() {
      for (const cache of Object.values(caches)) cache?.close();
    },
  };
}
