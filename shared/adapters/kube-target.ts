// A few small files, which are read sooner than a thread for it is found.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { KubeConfigSource } from './kube-config.ts';
import type { KubeTarget } from './kube-transport-https.ts';

const text = z.string().optional();
const extensions = z.unknown().optional();

/** A kubeconfig that asks for nothing but certificates and tokens. Whatever else stands in one is for client-node. */
const PlainKubeconfig = z.object({
  'current-context': z.string(),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.strictObject({
        server: z.url(),
        'certificate-authority': text,
        'certificate-authority-data': text,
        'insecure-skip-tls-verify': z.boolean().optional(),
        'tls-server-name': text,
        extensions,
      }),
    }),
  ),
  users: z.array(
    z.object({
      name: z.string(),
      user: z.strictObject({
        token: text,
        tokenFile: text,
        'client-certificate': text,
        'client-certificate-data': text,
        'client-key': text,
        'client-key-data': text,
      }),
    }),
  ),
  contexts: z.array(
    z.object({
      name: z.string(),
      context: z.object({ cluster: z.string(), user: z.string(), namespace: text }),
    }),
  ),
});

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Where the cluster is, if that can be told without client-node, which is slow to load; it decides otherwise. */
export function quickTarget(
  { kubeconfig, kubeconfigFile }: KubeConfigSource,
  { env = process.env, home = homedir(), account = accountFolder } = {},
): KubeTarget | undefined {
  if (kubeconfig) return plainTarget(kubeconfig, process.cwd());
  if (kubeconfigFile)
    return existsSync(kubeconfigFile)
      ? plainTarget(readFileSync(kubeconfigFile, 'utf8'), dirname(kubeconfigFile))
      : undefined;
  if (existsSync(join(home, '.kube/config'))) return undefined;
  return accountTarget(account, env);
}

/** The pod's own account. */
function accountTarget(folder: string, env: NodeJS.ProcessEnv): KubeTarget | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!host || !existsSync(join(folder, 'token'))) return undefined;
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: readFileSync(join(folder, 'namespace'), 'utf8').trim(),
    tls: { ca: readFileSync(join(folder, 'ca.crt')) },
    token: () => readToken(join(folder, 'token')),
  };
}

function plainTarget(kubeconfig: string, folder: string): KubeTarget | undefined {
  const parsed = PlainKubeconfig.safeParse(parseText(kubeconfig));
  if (!parsed.success) return undefined;
  const { contexts, clusters, users, 'current-context': current } = parsed.data;
  const context = contexts.find(({ name }) => name === current)?.context;
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = users.find(({ name }) => name === context?.user)?.user;
  if (!cluster || !user) return undefined;
  const given = (data: string | undefined, file: string | undefined) =>
    file !== undefined ? readFileSync(resolve(folder, file)) : data && Buffer.from(data, 'base64');
  const ca = given(cluster['certificate-authority-data'], cluster['certificate-authority']);
  const cert = given(user['client-certificate-data'], user['client-certificate']);
  const key = given(user['client-key-data'], user['client-key']);
  const { token, tokenFile } = user;
  return {
    server: cluster.server,
    namespace: context?.namespace,
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster['insecure-skip-tls-verify'] && { rejectUnauthorized: false }),
      ...(cluster['tls-server-name'] && { servername: cluster['tls-server-name'] }),
    },
    token: () => token ?? (tokenFile && readToken(resolve(folder, tokenFile))) ?? undefined,
  };
}

const readToken = (file: string): string => readFileSync(file, 'utf8').trim();

function parseText(kubeconfig: string): unknown {
  try {
    return JSON.parse(kubeconfig);
  } catch {
    // Most are YAML.
    return parse(kubeconfig);
  }
}
