import type { OpenKube } from './kube-config.ts';
import type { KubeResourcesOptions } from './kube-resources.ts';
import type { Resources } from './resources.ts';

export interface LazyResourcesOptions extends Omit<KubeResourcesOptions, 'kubeConfig'> {
  readonly open: OpenKube;
}

/** The client is loaded when first used, which functions that have nothing to do with resources never do. */
export function lazyResources(options: LazyResourcesOptions): Resources & { close(): void } {
  let connected: Promise<Resources & { close(): void }> | undefined;
  const resources = (): Promise<Resources & { close(): void }> => {
    connected ??= connect(options);
    return connected;
  };
  return {
    all: async () => (await resources()).all(),
    read: async (resource) => (await resources()).read(resource),
    writeFinalizers: async (resource, finalizers) =>
      (await resources()).writeFinalizers(resource, finalizers),
    writeStatus: async (resource, status) => (await resources()).writeStatus(resource, status),
    delete: async (resource) => (await resources()).delete(resource),
    tell: async (resource, note) => (await resources()).tell(resource, note),
    close() {
      connected?.then(
        (started) => started.close(),
        // It never started: whoever used it was told why.
        () => undefined,
      );
    },
  };
}

async function connect({ open, ...options }: LazyResourcesOptions): Promise<Resources & { close(): void }> {
  const [kubeConfig, { createKubeResources }] = await Promise.all([open(), import('./kube-resources.ts')]);
  return createKubeResources({ ...options, kubeConfig });
}
