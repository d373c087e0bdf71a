import { installFiles } from './install/files.ts';
import { knativeFiles } from './knative/files.ts';
import { openfaasStack } from './openfaas.ts';
import { sensorFiles } from './sensor.ts';

/** The manifests in which images are named, and those beside them. */
export const manifestFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  ...installFiles,
  ...knativeFiles,
  ...sensorFiles,
  { file: 'openfaas/stack.yaml', text: openfaasStack },
];
