import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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
export async function quickTarget(
  { kubeconfig, kubeconfigFile }: KubeConfigSource,
  { env = process.env, home = homedir(), account = accountFolder } = {},
): Promise<KubeTarget | undefined> {
  if (kubeconfig) return plainTarget(kubeconfig, process.cwd());
  if (kubeconfigFile)
    return existsSync(kubeconfigFile)
      ? plainTarget(await readFile(kubeconfigFile, 'utf8'), dirname(kubeconfigFile))
      : undefined;
  if (existsSync(join(home, '.kube/config'))) return undefined;
  return accountTarget(account, env);
}

/** The pod's own account. */
async function accountTarget(folder: string, env: NodeJS.ProcessEnv): Promise<KubeTarget | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!host || !existsSync(join(folder, 'token'))) return undefined;
  const [ca, namespace] = await Promise.all([
    readFile(join(folder, 'ca.crt')),
    readFile(join(folder, 'namespace'), 'utf8'),
  ]);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    tls: { ca },
    token: () => readToken(join(folder, 'token')),
  };
}

async function plainTarget(kubeconfig: string, folder: string): Promise<KubeTarget | undefined> {
  const parsed = PlainKubeconfig.safeParse(parseText(kubeconfig));
  if (!parsed.success) return undefined;
  const { contexts, clusters, users, 'current-context': current } = parsed.data;
  const context = contexts.find(({ name }) => name === current)?.context;
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = users.find(({ name }) => name === context?.user)?.user;
  if (!cluster || !user) return undefined;
  const given = async (data: string | undefined, file: string | undefined) =>
    file !== undefined ? readFile(resolve(folder, file)) : data && Buffer.from(data, 'base64');
  const [ca, cert, key] = await Promise.all([
    given(cluster['certificate-authority-data'], cluster['certificate-authority']),
    given(user['client-certificate-data'], user['client-certificate']),
    given(user['client-key-data'], user['client-key']),
  ]);
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
    token: async () => token ?? (tokenFile && readToken(resolve(folder, tokenFile))) ?? undefined,
  };
}

const readToken = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim();

function parseText(kubeconfig: string): unknown {
  try {
    return JSON.parse(kubeconfig);
  } catch {
    // Most are YAML.
    return parse(kubeconfig);
  }
}
