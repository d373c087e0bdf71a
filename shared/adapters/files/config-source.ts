import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../schema/config-file.ts';
import type { KubeClient } from '../kubernetes/client.ts';
import { problemOf } from '../kubernetes/errors.ts';

/** Where the YAML text with pools and machines stands. */
export interface ConfigSource {
  /** Its name in error messages. */
  readonly name: string;
  /** Throws ConfigError when it cannot be read. */
  read(): Promise<string>;
}

const configMap = /^configmap:([^/]+)\/([^/]+)$/;

/** Custom resources and nothing else: `--config resources:` */
const onlyResources = 'resources:';

/** A file's path, `configmap:NAMESPACE/NAME`, or `resources:`, which is no text at all. */
export function configSource(address: string | undefined, kube: KubeClient): ConfigSource | undefined {
  if (address === undefined || address === onlyResources) return undefined;
  const [, namespace, name] = configMap.exec(address) ?? [];
  if (namespace && name) return { name: address, read: () => readConfigMap(kube, namespace, name) };
  return {
    name: address,
    read: () =>
      readFile(address, 'utf8').catch((error: Error) => {
        throw new ConfigError(
          `${address}: cannot be read (${error.message}). It is what BAMEL_CONFIG or --config names`,
        );
      }),
  };
}

/** False: the source is in the cluster, which may not respond yet. */
export const isFile = (address: string): boolean => address !== onlyResources && !configMap.test(address);

async function readConfigMap(kube: KubeClient, namespace: string, name: string): Promise<string> {
  const where = `configmap:${namespace}/${name}`;
  const { data = {} } = await kube.apis.core
    .readNamespacedConfigMap({ namespace, name })
    .catch((error: unknown) => {
      throw new ConfigError(`${where}: cannot be read (${problemOf(error)})`);
    });
  const [text, ...others] = Object.values(data);
  if (text === undefined) throw new ConfigError(`${where}: has no data. Put the YAML text under any one key`);
  if (others.length > 0 && data['bamel.yaml'] === undefined)
    throw new ConfigError(
      `${where}: has the keys ${Object.keys(data).join(', ')}; name the one meant bamel.yaml`,
    );
  return data['bamel.yaml'] ?? text;
}
