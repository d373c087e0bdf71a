import { cliPage } from './cli.ts';
import { definitionFiles } from './crds/crds.ts';
import { fieldsPage } from './fields.ts';
import { grafanaDashboard } from './grafana.ts';
import { lifecyclePage } from './lifecycle.ts';
import { manifestFiles } from './manifests.ts';
import { metricsPage } from './metrics.ts';
import { prometheusRule } from './prometheus.ts';

const fields = await fieldsPage();

/** Every file that is made from the code, relative to the project, and how. */
export const generatedFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/lifecycle.md', text: lifecyclePage },
  { file: 'docs/fields.md', text: () => fields },
  { file: 'docs/cli.md', text: cliPage },
  { file: 'docs/metrics.md', text: metricsPage },
  ...(await definitionFiles()),
  ...manifestFiles,
  prometheusRule,
  grafanaDashboard,
];
