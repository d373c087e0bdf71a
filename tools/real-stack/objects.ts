import { request } from 'node:https';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';

/** Whatever is applied here, by rules that hold for all of it. */
const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
const clusterWide = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'Namespace',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

export interface WriteOptions {
  /** Checked by the server, not kept. */
  readonly dryRun?: boolean;
}

function pathOf({ apiVersion = '', kind = '', metadata }: KubernetesObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const inside = clusterWide.has(kind) ? '' : `/namespaces/${metadata?.namespace}`;
  return `${root}${inside}/${pluralOf(kind)}`;
}

/** Creates any object, and is refused for a field that the server does not know: client-node cannot ask for that. */
export function createObject(
  kubeConfig: KubeConfig,
  object: KubernetesObject,
  { dryRun = false }: WriteOptions = {},
): Promise<KubernetesObject> {
  const query = `?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
  return send(kubeConfig, 'POST', `${pathOf(object)}${query}`, 'application/json', object);
}

/** As a controller would write it: through the status sub-resource. */
export function writeStatus(
  kubeConfig: KubeConfig,
  object: KubernetesObject,
  status: object,
): Promise<KubernetesObject> {
  const path = `${pathOf(object)}/${object.metadata?.name}/status`;
  return send(kubeConfig, 'PATCH', path, 'application/merge-patch+json', { status });
}

async function send(
  kubeConfig: KubeConfig,
  method: string,
  path: string,
  contentType: string,
  body: object,
): Promise<KubernetesObject> {
  const options = { method, headers: { 'content-type': contentType } };
  await kubeConfig.applyToHTTPSOptions(options);
  const { promise, resolve, reject } = Promise.withResolvers<KubernetesObject>();
  const asking = request(`${kubeConfig.getCurrentCluster()?.server}${path}`, options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('error', reject);
    response.on('end', () => {
      const parsed = JSON.parse(text) as KubernetesObject & { message?: string };
      if ((response.statusCode ?? 0) < 300) resolve(parsed);
      else reject(new Error(`${method} ${path}: ${response.statusCode} ${parsed.message}`));
    });
  });
  asking.on('error', reject);
  asking.end(JSON.stringify(body));
  return promise;
}
