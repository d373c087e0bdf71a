import type { KubeConfig } from '@kubernetes/client-node';

export interface KubeConfigSource {
  /** The text of a kubeconfig, or the file it stands in; neither: the pod's own account, then ~/.kube/config. */
  readonly kubeconfig?: string | undefined;
  readonly kubeconfigFile?: string | undefined;
}

/** The Kubernetes client is most of the start-up time: it is loaded when first used. */
export async function loadKubeConfig({ kubeconfig, kubeconfigFile }: KubeConfigSource): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (kubeconfig) config.loadFromString(kubeconfig);
  else if (kubeconfigFile) config.loadFromFile(kubeconfigFile);
  else config.loadFromDefault();
  return config;
}
