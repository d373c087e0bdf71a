import { definitionFiles } from './crds.ts';
import { fieldsPage } from './fields.ts';
import { installFiles } from './install/files.ts';
import { knativeFiles } from './knative/files.ts';
import { lifecyclePage } from './lifecycle.ts';
import { openfaasStack } from './openfaas.ts';

const fields = await fieldsPage();

/** Every file that is made from the code, relative to the project, and how. */
export const generatedFiles: readonly { readonly file: string; readonly text: () => string }[] = [
  { file: 'docs/lifecycle.md', text: lifecyclePage },
  { file: 'docs/fields.md', text: () => fields },
  ...(await definitionFiles()),
  ...installFiles,
  ...knativeFiles,
  { file: 'openfaas/stack.yaml', text: openfaasStack },
];
