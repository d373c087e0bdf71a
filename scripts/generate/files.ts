import { cliPage } from './cli.ts';
import { definitionFiles } from './crds/crds.ts';
import { fieldsPage } from './fields.ts';
import { grafanaDashboard } from './grafana.ts';
import { installFiles } from './install/files.ts';
import { knativeFiles } from './knative/files.ts';
import { lifecyclePage } from './lifecycle.ts';
import { metricsPage } from './metrics.ts';
import { openfaasStack } from './openfaas.ts';
import { prometheusRule } from './prometheus.ts';

const fields = await fieldsPage();

/** Every file that is made from the code, relative to the project, and how. */
export const generatedFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/lifecycle.md', text: lifecyclePage },
  { file: 'docs/fields.md', text: () => fields },
  { file: 'docs/cli.md', text: cliPage },
  { file: 'docs/metrics.md', text: metricsPage },
  ...(await definitionFiles()),
  ...installFiles,
  ...knativeFiles,
  { file: 'openfaas/stack.yaml', text: openfaasStack },
  prometheusRule,
  grafanaDashboard,
];
