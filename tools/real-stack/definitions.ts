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

/** A folder of a Go module that programs of `group` are built from: what a project ships beside its code. */
export type ModuleFolder = { readonly group: string; readonly module: string; readonly folder: string };

export async function pathOf({ group, module, folder }: ModuleFolder): Promise<string> {
  const cwd = fileURLToPath(new URL(`./modules/${group}`, import.meta.url));
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], {
    cwd,
    env: { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=readonly' },
  });
  return join(stdout.trim(), folder);
}

/** Installs a project's own definitions, and waits until the API server serves them. */
export async function installDefinitions(
  kubeConfig: KubeConfig,
  folders: readonly ModuleFolder[],
): Promise<string[]> {
  const api = kubeConfig.makeApiClient(ApiextensionsV1Api);
  const names: string[] = [];
  for (const folder of folders)
    for (const body of await definitionsIn(await pathOf(folder))) {
      // Not through client-node, which drops every field whose name has a hyphen.
      await createObject(kubeConfig, body);
      names.push(body.metadata?.name ?? '');
    }
  await waitFor('definitions established', async () => {
    const { items } = await api.listCustomResourceDefinition();
    const established = items.filter(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True'),
    );
    return names.every((name) => established.some(({ metadata }) => metadata?.name === name)) || undefined;
  });
  return names;
}

async function definitionsIn(path: string): Promise<V1CustomResourceDefinition[]> {
  const found: V1CustomResourceDefinition[] = [];
  for (const file of (await readdir(path)).filter((name) => name.endsWith('.yaml')))
    for (const document of parseAllDocuments(await readFile(join(path, file), 'utf8'))) {
      const object = document.toJS() as V1CustomResourceDefinition | null;
      if (object?.kind === 'CustomResourceDefinition') found.push(object);
    }
  return found;
}
