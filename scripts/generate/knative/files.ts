import { stringify } from 'yaml';
import { funcProjects } from './func.ts';
import { services } from './services.ts';
import { settings } from './settings.ts';
import { broker, sources } from './sources.ts';
import { triggers } from './triggers.ts';

const head = (from: string) => `# Generated from ${from} by npm run generate.\n`;
const options = { lineWidth: 110, aliasDuplicateObjects: false } as const;
const documents = (objects: readonly object[]): string =>
  head('functions/index.ts') + objects.map((one) => stringify(one, options)).join('---\n');

const manifests: Readonly<Record<string, readonly object[]>> = {
  'settings.yaml': settings,
  'broker.yaml': broker,
  'services.yaml': services,
  'triggers.yaml': triggers,
  'sources.yaml': sources,
};

/** knative/: all that Knative needs to run the functions. */
export const knativeFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  ...Object.entries(manifests).map(([file, objects]) => ({
    file: `knative/${file}`,
    text: () => documents(objects),
  })),
  {
    file: 'knative/kustomization.yaml',
    text: () =>
      head('functions/index.ts') +
      stringify({
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        namespace: 'bamel',
        resources: Object.keys(manifests),
      }),
  },
  ...funcProjects.map(({ name, project }) => ({
    file: `knative/func/${name}/func.yaml`,
    text: () => head('functions/index.ts') + stringify(project, options),
  })),
];
