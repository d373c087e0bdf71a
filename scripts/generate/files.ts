import { cliPage } from './cli.ts';
import { definitionFiles } from './crds/crds.ts';
import { fieldsPage } from './fields.ts';
import { figuresPage } from './figures.ts';
import { grafanaDashboard } from './grafana.ts';
import { lifecyclePage } from './lifecycle.ts';
import { manifestFiles } from './manifests.ts';
import { metricsPage } from './metrics.ts';
import { prometheusRule } from './prometheus.ts';
import { settingsPage } from './settings.ts';

const fields = await fieldsPage();

/** Every file that is made from the code, relative to the project, and how. */
export const generatedFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/lifecycle.md', text: lifecyclePage },
  { file: 'docs/fields.md', text: () => fields },
  { file: 'docs/cli.md', text: cliPage },
  { file: 'docs/metrics.md', text: metricsPage },
  { file: 'docs/settings.md', text: settingsPage },
  { file: 'docs/figures.md', text: figuresPage },
  ...(await definitionFiles()),
  ...manifestFiles,
  prometheusRule,
  grafanaDashboard,
];
