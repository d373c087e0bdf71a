import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { partOf } from '../knative/names.ts';
import { highlyAvailable, single } from './host.ts';
import { hostRbac, namespace } from './rbac.ts';

const definitionsFolder = new URL('../../../config/crd/', import.meta.url);
const clusterWide = new Set(['ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition']);

interface Manifest {
  readonly kind: string;
  readonly metadata: object;
}

const definitions = (): Manifest[] =>
  readdirSync(definitionsFolder)
    .filter((file) => file.startsWith('bamel.dev_'))
    .map((file) => parse(readFileSync(new URL(file, definitionsFolder), 'utf8')));

const home = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespace,
    labels: { ...partOf, 'pod-security.kubernetes.io/enforce': 'restricted' },
  },
};

const text = (objects: readonly object[]): string =>
  [home, ...[...definitions(), ...(objects as Manifest[])].map(inNamespace)]
    .map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' }))
    .join('---\n');

const inNamespace = (object: Manifest): object =>
  clusterWide.has(object.kind) ? object : { ...object, metadata: { ...object.metadata, namespace } };

/** What `kubectl apply -f` takes: everything in one file, for those who do not use kustomize. */
export const installManifests = (): Readonly<Record<string, string>> => ({
  'install.yaml': text([...hostRbac, ...single]),
  'install-ha.yaml': text([...hostRbac, ...highlyAvailable]),
});
