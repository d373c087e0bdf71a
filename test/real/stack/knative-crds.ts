import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  ApiextensionsV1Api,
  type KubeConfig,
  type V1CustomResourceDefinition,
} from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { createObject } from './objects.ts';
import { waitFor } from './wait.ts';

const run = promisify(execFile);

/** Where Knative keeps its definitions, in the modules that its programs are built from. */
const folders = [
  ['knative-eventing', 'knative.dev/eventing', 'config/core/resources'],
  ['knative-eventing', 'knative.dev/eventing', 'config/channels/in-memory-channel/resources'],
  ['knative-serving', 'knative.dev/serving', 'config/core/300-resources'],
] as const;

/** Installs Knative's own definitions, and waits until the API server serves them. */
export async function installKnativeDefinitions(kubeConfig: KubeConfig): Promise<string[]> {
  const api = kubeConfig.makeApiClient(ApiextensionsV1Api);
  const names: string[] = [];
  for (const [group, module, folder] of folders)
    for (const body of await definitionsIn(group, module, folder)) {
      // Not through client-node, which drops every field whose name has a hyphen.
      await createObject(kubeConfig, body);
      names.push(body.metadata?.name ?? '');
    }
  await waitFor('Knative’s definitions established', async () => {
    const { items } = await api.listCustomResourceDefinition();
    const established = items.filter(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True'),
    );
    return names.every((name) => established.some(({ metadata }) => metadata?.name === name)) || undefined;
  });
  return names;
}

async function definitionsIn(
  group: string,
  module: string,
  folder: string,
): Promise<V1CustomResourceDefinition[]> {
  const cwd = fileURLToPath(new URL(`./modules/${group}`, import.meta.url));
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], {
    cwd,
    env: { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=readonly' },
  });
  const path = join(stdout.trim(), folder);
  const found: V1CustomResourceDefinition[] = [];
  for (const file of (await readdir(path)).filter((name) => name.endsWith('.yaml')))
    for (const document of parseAllDocuments(await readFile(join(path, file), 'utf8'))) {
      const object = document.toJS() as V1CustomResourceDefinition | null;
      if (object?.kind === 'CustomResourceDefinition') found.push(object);
    }
  return found;
}
