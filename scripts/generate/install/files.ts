import { stringify } from 'yaml';
import { group, resourceKinds } from '../../../shared/schema/resource-kinds.ts';
import { highlyAvailable, single } from './host.ts';
import { functionAccounts, hostRbac, namespace } from './rbac.ts';
import { remoteRbac } from './remote.ts';
import { providerPolicy } from './remote-policy.ts';

/** kubectl reads YAML 1.1, where on and off are booleans. */
const options = { lineWidth: 110, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;
const head = '# Generated from functions/permissions.ts and scripts/generate/install by npm run generate.\n';

const documents = (file: string, objects: readonly object[]) => ({
  file,
  text: () => head + objects.map((one) => stringify(one, options)).join('---\n'),
});

const kustomization = (folder: string, resources: readonly string[], more: object = {}) =>
  documents(`${folder}/kustomization.yaml`, [
    { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...more, resources },
  ]);

const functions = Object.keys(functionAccounts);

/** config/: what kustomize makes an installation from. */
export const installFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  kustomization(
    'config/crd',
    Object.values(resourceKinds).map(({ plural }) => `${group}_${plural}.yaml`),
  ),
  ...functions.map((name) => documents(`config/rbac/${name}.yaml`, functionAccounts[name] ?? [])),
  kustomization(
    'config/rbac',
    functions.map((name) => `${name}.yaml`),
    { namespace },
  ),
  documents('config/manager/rbac.yaml', hostRbac),
  documents('config/manager/host.yaml', single),
  kustomization('config/manager', ['rbac.yaml', 'host.yaml']),
  kustomization('config/default', ['../crd', '../manager'], { namespace }),
  documents('config/ha/rbac.yaml', hostRbac),
  documents('config/ha/host.yaml', highlyAvailable),
  kustomization('config/ha', ['../crd', 'rbac.yaml', 'host.yaml'], { namespace }),
  ...Object.entries(remoteRbac).flatMap(([role, objects]) => [
    documents(`config/remote/${role}/rbac.yaml`, objects),
    kustomization(
      `config/remote/${role}`,
      role === 'provider' ? ['rbac.yaml', 'policy.yaml'] : ['rbac.yaml'],
    ),
  ]),
  documents('config/remote/provider/policy.yaml', providerPolicy),
];
