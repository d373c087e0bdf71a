import type { KubernetesObject } from '@kubernetes/client-node';
import type { Clock } from '../../ports/clock.ts';
import { ClusterError } from '../../ports/cluster.ts';
import type { AllResources, Json, KindName, Resource, Resources } from '../../ports/resources.ts';
import type { Log } from '../../process/log.ts';
import { apiVersion, group, resourceKinds, version } from '../../schema/resource-kinds.ts';
import { type Cache, createCache } from './cache.ts';
import { createKubeClient } from './client.ts';
import { toClusterError } from './errors.ts';
import { mergePatchOf } from './merge-patch.ts';
import { ApiException, type KubeTransport } from './transport.ts';

export interface KubeResourcesOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a call may take. */
  readonly timeoutMs?: number;
  readonly onResource?: (now: Resource | undefined, before: Resource | undefined) => void;
}

interface Raw extends KubernetesObject {
  readonly spec?: Json;
  readonly status?: Json;
}

interface RawList {
  readonly items: Raw[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

const kindNames = Object.keys(resourceKinds) as KindName[];
const pageSize = 500;
const longestReadMs = 10_000;
/** How often a cluster without our kinds is asked whether it has them now. */
const askEveryMs = 30_000;
const fieldManager = 'bamel-sync-inventory';

/** Our custom resources through the API: watched once they are installed. */
export function createKubeResources(options: KubeResourcesOptions): Resources & { close(): void } {
  const { clock, log, timeoutMs = 30_000, onResource = () => undefined } = options;
  const kube = createKubeClient(options.transport, {
    readMs: Math.min(timeoutMs, longestReadMs),
    writeMs: timeoutMs,
  });
  const { custom, core } = kube.apis;
  let caches: Record<KindName, Cache<Resource>> | undefined;
  let asking: Promise<void> | undefined;
  let askAgainAt = 0;

  const installed = async (): Promise<boolean> => {
    const answer = await call<{ resources: { name: string }[] }>(() =>
      custom.getAPIResources({ group, version }),
    );
    const names = answer?.resources.map(({ name }) => name) ?? [];
    return kindNames.every((kind) => names.includes(resourceKinds[kind].plural));
  };
  const watch = (kind: KindName): Cache<Resource> => {
    const { plural } = resourceKinds[kind];
    return createCache<Raw, Resource>({
      kube,
      clock,
      log,
      path: `/apis/${apiVersion}/${plural}`,
      async list(_continue) {
        const { items, metadata }: RawList = await custom.listCustomObjectForAllNamespaces({
          group,
          version,
          resourcePlural: plural,
          limit: pageSize,
          ...(_continue && { _continue }),
        });
        // Custom objects come as they are, while the client calls this field otherwise in all others.
        return {
          items,
          metadata: { ...metadata, ...(metadata.continue && { _continue: metadata.continue }) },
        };
      },
      keep: (raw) => toResource(kind, raw),
      onChange: onResource,
    });
  };
  /** Watches our kinds if they are installed; concurrent callers share the question. */
  const begin = async (): Promise<void> => {
    if (clock.monotonic() < askAgainAt) return;
    if (await installed())
      caches = { autoscaler: watch('autoscaler'), pool: watch('pool'), node: watch('node') };
    else askAgainAt = clock.monotonic() + askEveryMs;
  };
  const stopWatching = (): void => {
    for (const cache of Object.values(caches ?? {})) cache.close();
    caches = undefined;
  };
  const at = ({ kind, namespace, name }: Resource) => ({
    group,
    version,
    plural: resourceKinds[kind].plural,
    namespace,
    name,
  });
  const patched = async (resource: Resource, write: () => Promise<Raw>): Promise<Resource | undefined> => {
    const raw = await call(write);
    return raw && toResource(resource.kind, raw);
  };

  return {
    async all() {
      if (!caches) {
        asking ??= begin().finally(() => {
          asking = undefined;
        });
        await asking;
      }
      if (!caches) return undefined;
      try {
        const [autoscaler, pool, node] = await Promise.all([
          caches.autoscaler.all(),
          caches.pool.all(),
          caches.node.all(),
        ]);
        return { autoscaler, pool, node } satisfies AllResources;
      } catch (error) {
        // Who uninstalls the kinds stops the watches too; nothing in the store goes with them.
        if (await installed()) throw error;
        stopWatching();
        return undefined;
      }
    },
    read: (resource) => patched(resource, () => custom.getNamespacedCustomObject(at(resource))),
    writeFinalizers: (resource, finalizers) =>
      patched(resource, () =>
        custom.patchNamespacedCustomObject({
          ...at(resource),
          fieldManager,
          body: { metadata: { finalizers, resourceVersion: resource.resourceVersion, uid: resource.uid } },
        }),
      ),
    async writeStatus(resource, status) {
      const patch = mergePatchOf(resource.status, status);
      if (!patch) return resource;
      const metadata = { resourceVersion: resource.resourceVersion, uid: resource.uid };
      return patched(resource, () =>
        custom.patchNamespacedCustomObjectStatus({
          ...at(resource),
          fieldManager,
          body: { metadata, status: patch },
        }),
      );
    },
    async delete(resource) {
      await call(() =>
        custom.deleteNamespacedCustomObject({
          ...at(resource),
          body: { preconditions: { uid: resource.uid } },
        }),
      );
    },
    async recordEvent(resource, { type, reason, message }) {
      const now = new Date(clock.now());
      const { namespace, name, uid, kind, resourceVersion } = resource;
      await call(() =>
        core.createNamespacedEvent({
          namespace,
          body: {
            metadata: { generateName: `${name}.`, namespace },
            involvedObject: {
              apiVersion,
              kind: resourceKinds[kind].kind,
              namespace,
              name,
              uid,
              resourceVersion,
            },
            type,
            reason,
            message,
            firstTimestamp: now,
            lastTimestamp: now,
            count: 1,
            source: { component: fieldManager },
          },
        }),
      );
    },
    close() {
      stopWatching();
      kube.close();
    },
  };
}

/** Undefined: it is not there, or another version is. Whatever else goes wrong is thrown. */
async function call<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiException && (error.code === 404 || error.code === 409)) return undefined;
    throw error instanceof ClusterError ? error : toClusterError(error);
  }
}

function toResource(kind: KindName, { metadata = {}, spec = {}, status = {} }: Raw): Resource {
  return {
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    generation: metadata.generation ?? 0,
    createdAt: String(metadata.creationTimestamp ?? ''),
    deleting: metadata.deletionTimestamp !== undefined,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
    spec,
    status,
  };
}
