import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { KubeConfig } from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { type Answer, send, until } from '../../tools/worlds/cluster-client.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Record<string, unknown>;
}

const folder = new URL('../../config/crd/', import.meta.url);

/** The definitions as they are shipped. */
export const definitions = (): Manifest[] =>
  readdirSync(folder)
    .filter((file) => file.startsWith('bamel.dev_'))
    .map((file) => parse(readFileSync(new URL(file, folder), 'utf8')));

export const samples = (): Manifest[] =>
  parseAllDocuments(
    readFileSync(new URL('../../config/samples/resources.yaml', import.meta.url), 'utf8'),
  ).map((document) => document.toJS());

const plurals: Readonly<Record<string, string>> = {
  BareMetalAutoscaler: 'baremetalautoscalers',
  NodePool: 'nodepools',
  BareMetalNode: 'baremetalnodes',
};

export const pathOf = (namespace: string, kind: string, name = ''): string =>
  `/apis/bamel.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}${name && `/${name}`}`;

/** As kubectl apply --server-side --validate=strict. */
export const apply = (kubeConfig: KubeConfig, path: string, body: object): Promise<Answer> =>
  send(kubeConfig, 'PATCH', `${path}?fieldManager=test&fieldValidation=Strict&force=true`, {
    body,
    type: 'application/apply-patch+yaml',
  });

/** Installs our kinds, and waits until they are served. */
export async function install(kubeConfig: KubeConfig): Promise<void> {
  for (const definition of definitions()) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
    const applied = await apply(kubeConfig, path, definition);
    if (applied.code >= 300) throw new Error(`${definition.metadata.name}: ${JSON.stringify(applied.body)}`);
  }
  for (const kind of Object.keys(plurals))
    await until(
      `${kind} is served`,
      async () => (await send(kubeConfig, 'GET', pathOf('default', kind))).code === 200,
    );
}

/** As kubectl get asks for it: the rows, each by the names of the columns that are shown without -o wide. */
export async function tableOf(kubeConfig: KubeConfig, path: string): Promise<Record<string, unknown>[]> {
  const url = new URL(`${kubeConfig.getCurrentCluster()?.server}${path}`);
  const options: RequestOptions = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };
  await kubeConfig.applyToHTTPSOptions(options);
  const { agent: _, ...plain } = options;
  const answer = await new Promise<string>((resolve, reject) => {
    const asking =
      url.protocol === 'http:'
        ? httpRequest(url, plain, (response) => resolve(text(response)))
        : httpsRequest(url, options, (response) => resolve(text(response)));
    asking.on('error', reject);
    asking.end();
  });
  const { columnDefinitions, rows } = JSON.parse(answer) as {
    columnDefinitions: { name: string; priority: number }[];
    rows: { cells: unknown[] }[];
  };
  return rows.map(({ cells }) =>
    Object.fromEntries(
      columnDefinitions.flatMap(({ name, priority }, index) => (priority > 0 ? [] : [[name, cells[index]]])),
    ),
  );
}
