import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { z } from 'zod';

export interface KubeConfigSource {
  /** The text of a kubeconfig, or the file it stands in; neither: the pod's own account, then ~/.kube/config. */
  readonly kubeconfig?: string | undefined;
  readonly kubeconfigFile?: string | undefined;
}

const TokenFiles = z.object({
  users: z.array(
    z.object({ name: z.string(), user: z.object({ tokenFile: z.string().optional() }).nullish() }),
  ),
});

/** The server and the login, as client-node reads them. Throws when they cannot be read. */
export function loadKubeConfig({ kubeconfig, kubeconfigFile }: KubeConfigSource): KubeConfig {
  const config = new KubeConfig();
  if (kubeconfig) config.loadFromString(kubeconfig);
  else if (kubeconfigFile) config.loadFromFile(kubeconfigFile);
  else config.loadFromDefault();
  // client-node refuses plain HTTP unless this is set, although there is no certificate to verify.
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  if (kubeconfig) addTokenFiles(config, kubeconfig, process.cwd());
  else if (kubeconfigFile)
    addTokenFiles(config, readFileSync(kubeconfigFile, 'utf8'), dirname(kubeconfigFile));
  return config;
}

/** client-node ignores the field `tokenFile`, but has an authenticator that reads a file again when it is renewed. */
function addTokenFiles(config: KubeConfig, text: string, folder: string): void {
  if (!text.includes('tokenFile')) return;
  const { users = [] } = TokenFiles.safeParse(parse(text)).data ?? {};
  config.users = config.users.map((user) => {
    const tokenFile = users.find(({ name }) => name === user.name)?.user?.tokenFile;
    return tokenFile && !user.token
      ? {
          ...user,
          authProvider: { name: 'tokenFile', config: { tokenFile: resolve(folder, tokenFile) } },
        }
      : user;
  });
}
