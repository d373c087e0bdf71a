import type { KubeConfig } from '@kubernetes/client-node';
import type { KubeTransport } from './kube-transport.ts';

export interface KubeConfigSource {
  /** The text of a kubeconfig, or the file it stands in; neither: the pod's own account, then ~/.kube/config. */
  readonly kubeconfig?: string | undefined;
  readonly kubeconfigFile?: string | undefined;
  /** For a process that is started to answer one event. */
  readonly quick?: boolean | undefined;
}

/** The API server that is meant. Nothing is asked of it yet, and client-node is loaded only where it is needed. */
export async function openKube(source: KubeConfigSource): Promise<KubeTransport> {
  const { quickTarget } = await import('./kube-target.ts');
  const target = quickTarget(source);
  if (target) return (await import('./kube-transport-https.ts')).httpsTransport(target, source.quick);
  const { clientTransport } = await import('./kube-transport-client.ts');
  return clientTransport(await loadKubeConfig(source));
}

/** How the parts of a process reach the one API server that all of them ask. */
export type OpenKube = () => Promise<KubeTransport>;

/** Opened when first used; what could not be opened is tried again. */
export function shareKube(source: KubeConfigSource): { readonly open: OpenKube; close(): Promise<void> } {
  let opened: Promise<KubeTransport> | undefined;
  return {
    open() {
      opened ??= openKube(source).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    async close() {
      // What could not be opened need not be closed.
      (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** client-node takes longer to load than all the rest: it is loaded when first used. */
export async function loadKubeConfig({ kubeconfig, kubeconfigFile }: KubeConfigSource): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (kubeconfig) config.loadFromString(kubeconfig);
  else if (kubeconfigFile) config.loadFromFile(kubeconfigFile);
  else config.loadFromDefault();
  return config;
}
